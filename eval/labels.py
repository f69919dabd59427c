"""Whether a text holds what a label says: labels are quotes and survive re-chunking."""

import re
import unicodedata

from ingest.sentences import sentence_spans

SHORTEST = 20
"""Code points from which a sentence inside a longer quote counts as stating it."""

MARKS = re.compile(r"[`*_>#]|\[|\]\([^)]*\)")


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


def holds_answer(text: str, answers: list[str]) -> bool:
    """Whether one of the answers stands in the text as whole words."""
    within = f" {_worded(text)} "
    return any(f" {_worded(answer)} " in within for answer in answers if _worded(answer))


def plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", MARKS.sub("", text)).casefold()
    return " ".join(folded.split())


def _worded(text: str) -> str:
    return " ".join(re.findall(r"\w+", plain(text)))
