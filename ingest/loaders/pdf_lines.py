"""The lines of PDF pages with the size of their type, without what most pages repeat."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pypdf import PageObject

from ingest.loaders.normalise import clean, one_line

_BULLET = re.compile(r"^[\x7f-\x84\x86-\x9f\uf000-\uf0ff●○■□▪➢❖►✓]\s*")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"}
)
_SHORTEST_PAGE = 8
"""Lines. Of a shorter page the first and last lines may be all there is."""

_FEWEST_PAGES = 3
_LONGEST_RUNNING_LINE = 200


@dataclass(frozen=True)
class Line:
    text: str
    size: float = 0.0
    """Points, as printed, of most of its characters; 0 where the line is blank."""

    is_bold: bool = False


def page_lines(page: PageObject) -> list[Line]:
    """The lines of one page in the order of the text layer, blank ones included."""
    lines: list[Line] = []
    text, fonts = "", Counter[tuple[float, bool]]()
    for part, size, is_bold in _runs(page):
        for number, piece in enumerate(part.split("\n")):
            if number:
                lines.append(_line(text, fonts))
                text, fonts = "", Counter()
            text += piece
            fonts[size, is_bold] += len(piece.strip())
    return [*lines, _line(text, fonts)]


def without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without the first and last lines that most of them share, page numbers apart."""
    numbered = list(enumerate(pages))
    seen = Counter(
        key
        for number, page in numbered
        for key in {key for line in _margins(page) for key in _running_keys(line, number)}
    )
    enough = max(_FEWEST_PAGES, len(pages) / 2)
    running = {key for key, count in seen.items() if count >= enough}
    return [_trimmed(number, page, running) for number, page in numbered]


def _runs(page: PageObject) -> Iterator[tuple[str, float, bool]]:
    found: list[tuple[str, float, bool]] = []

    def visit(text: str, matrix: Any, text_matrix: Any, font: Any, size: float) -> None:
        # The scale of both matrices; of a page turned by 90° it lies beside the diagonal.
        scale = (text_matrix[3] or text_matrix[1]) * (matrix[3] or matrix[1])
        is_bold = "bold" in str((font or {}).get("/BaseFont", "")).lower()
        found.append((text, round(abs(size * scale), 1), is_bold))

    page.extract_text(visitor_text=visit)
    yield from found


def _line(text: str, fonts: Counter[tuple[float, bool]]) -> Line:
    # Symbol fonts put bullets at code points that mean nothing elsewhere.
    text = one_line(clean(_BULLET.sub("• ", text)).translate(_LIGATURES))
    if not text:
        return Line("")
    size, is_bold = max(fonts, key=lambda font: fonts[font])
    return Line(text, size, is_bold)


def _margins(page: list[Line]) -> list[Line]:
    lines = [line for line in page if line.text]
    if len(lines) < _SHORTEST_PAGE:
        return []
    return [line for line in lines[:2] + lines[-2:] if len(line.text) <= _LONGEST_RUNNING_LINE]


def _running_keys(line: Line, number: int) -> Iterator[str]:
    """The text, and the text with one number each relative to the page: "page 7 of 9"."""
    yield line.text
    for match in re.finditer(r"\d{1,5}", line.text):
        relative = int(match[0]) - number
        yield f"{line.text[: match.start()]}\0{relative}{line.text[match.end() :]}"


def _trimmed(number: int, page: list[Line], running: set[str]) -> list[Line]:
    dropped = {
        id(line) for line in _margins(page) if running.intersection(_running_keys(line, number))
    }
    return [line for line in page if id(line) not in dropped]
