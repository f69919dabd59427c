"""Near misses: a question about something that no document names, in the shape of one that is."""

import re
from collections.abc import Iterator

from eval.labels import plain

_CODE = re.compile(r"(?<![\w.\-/])(?:[A-Z]{1,12}-\d{2,6}|[A-Z]{1,8}\d{2,6})(?![\w\-])")
_PRODUCT = re.compile(r"\b[A-Z][\w\-]+ (?!(?:19|20)\d\d\b)\d{2,4}\b(?![.,:/\-]\d)")
_PLACE = re.compile(r"(?<=\b(?:in|at|to) )[A-ZÄÖÜ][a-zäöüß]{3,}\b(?![ \-][A-Z\d])")
_NO_PLACE = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez|Mon|Tues|Wednes|Thurs|Fri"
    r"|Satur|Sun)[a-zä]*\Z|English|German|Spanish|Section|Version"
)
_STEPS = (1, 3, 7, 11, 50, 100, 250, 1000)
_PLACES = ("Osaka", "Tallinn", "Nairobi", "Cartagena", "Adelaide", "Reykjavik", "Windhoek")


class Stored:
    """All texts of a base, to be asked whether any of them names something."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = [plain(text) for text in texts]

    def names(self, term: str) -> bool:
        return any(plain(term) in text for text in self._texts)


def swapped(question: str, stored: Stored) -> tuple[str, str, str] | None:
    """The question with one code, product or place exchanged for one that no text names, then
    what it replaced and by what; None where it has none that a text names."""
    for old, offers in _exchanges(question):
        if not stored.names(old):
            continue
        new = next((offer for offer in offers if not stored.names(offer)), None)
        if new is not None:
            return question.replace(old, new), old, new
    return None


def _exchanges(question: str) -> Iterator[tuple[str, list[str]]]:
    for pattern in (_CODE, _PRODUCT):
        for match in pattern.finditer(question):
            yield match.group(), list(_renumbered(match.group()))
    for match in _PLACE.finditer(question):
        if not _NO_PLACE.match(match.group()):
            yield match.group(), [place for place in _PLACES if place != match.group()]


def _renumbered(name: str) -> Iterator[str]:
    """The same name with other numbers of as many digits."""
    stem, digits = name.rstrip("0123456789"), re.search(r"\d+\Z", name)
    if digits is None:
        return
    width = len(digits.group())
    for step in _STEPS:
        number = (int(digits.group()) + step) % 10**width
        yield f"{stem}{number:0{width}d}"
