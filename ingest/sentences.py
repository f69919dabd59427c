"""Finds the units of a text that can be quoted: sentences, list items, table rows, lines."""

import re
from collections.abc import Iterator

_ABBREVIATIONS = frozenset(
    "e.g i.e eg ie cf vs viz approx resp incl excl dept mr mrs ms mx dr prof st sr sra hr hrn fr"
    " gen gov sen rep col capt rev hon al bzw ca evtl ggf inkl exkl zzgl vgl sog mio mrd tsd"
    " inc ltd corp z.b d.h u.a i.d.r o.g s.o s.u v.a z.t u.u m.e p.ex par.ex".split()
)
_BEFORE_FIGURES = frozenset(
    "no nr nos fig figs sec art abs vol p pp ch max min mind ver tel abb tab kap s z ziff eq est"
    " jan feb mar apr jun jul aug sep sept oct okt nov dec dez ext".split()
)
"""They are words, too: "at the max." ends a sentence, "max. 5" does not."""

GERMAN_MONTHS = frozenset(
    "januar jänner februar märz april mai juni juli august september oktober november dezember"
    " quartal jahrhundert".split()
)
_BEFORE_ORDINALS = frozenset("am der die das dem den des vom zum zur im beim jeder jeden".split())

_MARKER = re.compile(r"\s*(?:[-*+•‣◦▪–]|\(?\d{1,3}[.)]|[A-Za-z][.)])\s+")
# Possessive throughout, and only from the first stop of a run: a megabyte of dots is one step.
_STOP = re.compile(
    r"(?<![.!?…])[.!?…؟۔।]++(?:[\"'”’»“«)\]]|\[\d{1,3}\])*+(?=\s|$)|[。！？｡]++[」』）”’\"]*+"
)
_LINE = re.compile(r"\S[^\n]*+")
_SPACE = re.compile(r"\s*+")
_PLAIN = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*+[^\w\s/(@-]*+\Z")
_OPENERS = "\"'“„‚‘«»([{¿¡*_`"
_CLOSERS = " \n\t\"'”’»“«)]}*_`"
_LOOK = 40
"""Characters looked at around a full stop."""


def asks(sentence: str) -> bool:
    """Whether it is a question: it states nothing."""
    return sentence.rstrip(_CLOSERS).endswith(("?", "？", "؟"))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The spans of all units, in order, without white space around them.

    They do not overlap and cover every character that is not white space. A table row is one
    unit, a list item as many as it has sentences. Takes linear time.
    """
    return [span for start, end in _segments(text) for span in _sentences(text, start, end)]


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """Spans of lines; a line that only goes on with the one before is joined to it."""
    start = end = 0
    for line in _LINE.finditer(text):
        if not _is_wrapped(text, start, end, line):
            yield start, end
            start = line.start()
        end = line.end()
    yield start, end


def _is_wrapped(text: str, start: int, end: int, line: re.Match[str]) -> bool:
    """Whether a sentence goes on in this line: loaded text has none such, web pages do."""
    before = text[max(start, end - _LOOK) : end].rstrip()
    opening = line[0][:_LOOK]
    if not opening[0].islower() or _MARKER.match(opening) or " | " in before:
        return False
    follows = line.start() - end == 1  # neither blank lines nor an indent between
    return follows and bool(before) and (before[-1].isalpha() or before[-1] == ",")


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = _skip_space(text, start, end), start + len(text[start:end].rstrip())
    if start >= end:
        return
    if " | " not in text[start:end]:
        marker = _MARKER.match(text, start, end)
        for stop in _STOP.finditer(text, marker.end() if marker else start, end):
            following = _skip_space(text, stop.end(), end)
            if following < end and _ends_sentence(text, start, stop, following, end):
                yield start, stop.end()
                start = following
    yield start, end


def _skip_space(text: str, start: int, end: int) -> int:
    space = _SPACE.match(text, start, end)
    return space.end() if space else start


def _ends_sentence(text: str, start: int, stop: re.Match[str], following: int, end: int) -> bool:
    if stop[0][0] in "。！？｡":
        return True
    next_word = text[following : min(end, following + _LOOK)].split()[0].lstrip(_OPENERS)
    if next_word[:1].islower() and _is_plain(next_word):
        return False
    if not stop[0].startswith(".") or stop[0].startswith(".."):
        return True
    words = text[max(start, stop.start() - _LOOK) : stop.start()].split()
    word = words[-1].lstrip(_OPENERS) if words else ""
    return not _is_abbreviated(word, words[-2].lower() if len(words) > 1 else "", next_word)


def _is_plain(word: str) -> bool:
    """Not a name that is always written small, such as `sync.retry_max`, macOS or v2."""
    return _PLAIN.match(word) is not None and word.islower()


def _is_abbreviated(word: str, before: str, following: str) -> bool:
    """Whether the full stop after `word` belongs to the word."""
    lowered = word.lower()
    if lowered in _ABBREVIATIONS or (lowered in _BEFORE_FIGURES and following[:1].isdigit()):
        return True
    if len(word) == 1 and word.isalpha():  # "J. Smith", the first half of "z. B."
        in_chain = re.match(r"\w\.", following) or re.fullmatch(r"\w\.", before)
        return word.isupper() or in_chain is not None
    if word.isdigit() and len(word) <= 2:  # "14. März", "am 3. Tag"
        return following.strip(",.;:").lower() in GERMAN_MONTHS or before in _BEFORE_ORDINALS
    return re.fullmatch(r"(?:[A-Z]\.)+[A-Z]", word) is not None  # "U.S. Government"
