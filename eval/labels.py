"""Whether a text holds what a label says: labels are quotes and survive re-chunking."""

import re
import unicodedata

from ingest.sentences import sentence_spans

SHORTEST = 20
"""Code points from which a sentence inside a longer quote counts as stating it."""

MARKS = re.compile(r"[`*_>#]|\[|\]\([^)]*\)")

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
)
"""Letters of scripts that set no space around a word: Thai, Lao, Burmese, Khmer, Kana, Han, and
Hangul with its particles."""

LETTER = f"[^\\W{UNSPACED}]"

JOINT = re.compile(rf"(?<={LETTER})(?={LETTER})|(?<=\d)(?=[.,'’]\d)|(?<=\d[.,'’])(?=\d)")
"""A place that a word or a number goes on over."""


def holds_quote(text: str, quote: str) -> bool:
    """Whether the quote stands in the text, up to white space, case and Markdown marks.

    A quoted table row stands where one line holds all its cells.
    """
    cells = [plain(cell) for cell in quote.split("|") if plain(cell)]
    if not cells:
        return False
    if len(cells) == 1:
        return cells[0] in plain(text)
    return any(all(cell in plain(line) for cell in cells) for line in text.splitlines())


def states_quote(text: str, quote: str) -> bool:
    """As holds_quote, or a whole sentence of the quote stands there: a passage's end may cut it."""
    return holds_quote(text, quote) or any(
        end - start > SHORTEST and holds_quote(quote, text[start:end])
        for start, end in sentence_spans(text)
    )


def quotes_much(cited: str, quote: str) -> bool:
    """Whether the cited words hold the quote in substance: whole, a whole sentence of it, or half
    of it by length."""
    if states_quote(cited, quote):
        return True
    sentences = [quote[start:end] for start, end in sentence_spans(quote)]
    if any(len(one) > SHORTEST and holds_quote(cited, one) for one in sentences):
        return True
    return holds_quote(quote, cited) and 2 * len(plain(cited)) >= len(plain(quote))


def holds_words(text: str, wanted: str) -> bool:
    """Whether the wanted text stands there as whole words and numbers: "5 days" is not in
    "15 days", nor "30" in "1,300"; up to white space, case and Markdown marks."""
    words, within = plain(wanted), plain(text)
    start = within.find(words) if words else -1
    while start >= 0:
        if not (JOINT.match(within, start) or JOINT.match(within, start + len(words))):
            return True
        start = within.find(words, start + 1)
    return False


def holds_answer(text: str, answers: list[str]) -> bool:
    """Whether one of the answers stands in the text as whole words."""
    within = f" {_worded(text)} "
    return any(f" {_worded(answer)} " in within for answer in answers if _worded(answer))


def plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", MARKS.sub("", text)).casefold()
    return " ".join(folded.split())


def _worded(text: str) -> str:
    return " ".join(re.findall(r"\w+", plain(text)))
