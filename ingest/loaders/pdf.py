"""Loads PDF: the text layer page by page, wrapped lines joined, lines in large type as headings."""

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from pypdf import PdfReader
from pypdf.errors import DependencyError

from ingest.documents import BlockKind
from ingest.errors import LoadError
from ingest.loaders.assembly import MAX_CHARACTERS, Assembly, Extract
from ingest.loaders.normalise import one_line
from ingest.loaders.pdf_lines import Line, page_lines, without_running_lines
from ingest.loaders.wrapping import (
    continued,
    hyphenated_words,
    is_list_item,
    page_width,
    paragraphs,
)

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports each oddity of each file

MAX_PAGES = 2_000
_NARROWEST = 30
"""Characters: a column of three on a page."""

_LONGEST_HEADING = 120
_LARGE, _LARGE_IF_BOLD = 1.15, 1.05
"""Times the size of the body's type."""

_TOOL_TITLE = re.compile(
    r"\A(untitled\b.*|\(?anonymous\)?|.*\.(docx?|xlsx?|pptx?|pdf|indd|tex|dvi|rtf|odt|html?|jpe?g|png)"
    r"|[\d_-]+)\Z",
    re.IGNORECASE,
)
"""What programs write where the author gave no title."""


@dataclass(frozen=True)
class _Part:
    text: str
    page: int
    level: int = 0
    """Of a heading. It starts at 2: large type on a cover is often no title, but "FORM 10-Q"."""


def load_pdf(data: bytes) -> Extract:
    """The text of a PDF; without a text layer, or with a password, a LoadError says so."""
    if b"%PDF-" not in data[:1024]:
        raise LoadError("It is no PDF file.", code="broken")
    reader = _opened(data)
    if len(reader.pages) > MAX_PAGES:
        raise LoadError(f"It has more than {MAX_PAGES:,} pages.", code="too_large")
    pages = without_running_lines(_all_lines(reader))
    if not any(line.text for page in pages for line in page):
        raise LoadError("It has no text layer; scanned pages need OCR first.", code="no_text")
    return Extract(_assembled(pages), property_title=_title(reader))


def _opened(data: bytes) -> PdfReader:
    reader = PdfReader(io.BytesIO(data))
    try:
        if reader.is_encrypted and not reader.decrypt(""):
            raise LoadError("It is encrypted and needs a password.", code="encrypted")
    except DependencyError as error:
        message = "It is encrypted in a way that is not supported."
        raise LoadError(message, code="encrypted") from error
    return reader


def _all_lines(reader: PdfReader) -> list[list[Line]]:
    pages: list[list[Line]] = []
    total = 0
    for page in reader.pages:
        pages.append(page_lines(page))
        total += sum(len(line.text) for line in pages[-1])
        if total > MAX_CHARACTERS:
            message = f"It holds more than {MAX_CHARACTERS:,} characters of text."
            raise LoadError(message, code="too_large")
    return pages


def _assembled(pages: list[list[Line]]) -> Assembly:
    levels = _levels([line for page in pages for line in page])
    hyphenated = hyphenated_words("\n".join(line.text for page in pages for line in page))
    parts: list[_Part] = []
    for number, page in enumerate(pages, 1):
        for part in _parts(number, page, levels, hyphenated):
            last = parts[-1] if parts else part
            joined = continued(last.text, part.text, hyphenated) if last.page < number else ""
            if joined and not (last.level or part.level):
                parts[-1] = _Part(joined, last.page)
            else:
                parts.append(part)
    assembly = Assembly()
    for part in parts:
        prose: BlockKind = "list_item" if is_list_item(part.text) else "paragraph"
        kind = "heading" if part.level else prose
        assembly.add(kind, part.text, level=part.level, page=part.page)
    return assembly


def _levels(lines: list[Line]) -> dict[tuple[float, bool], int]:
    """The heading level by size and weight of the type, for all that is larger than the body's."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    body = max(sizes, key=lambda size: sizes[size])
    large = {
        (line.size, line.is_bold)
        for line in lines
        if line.size >= body * (_LARGE_IF_BOLD if line.is_bold else _LARGE) and line.size > 0
    }
    by_size = sorted({size for size, _ in large}, reverse=True)
    return {(size, bold): min(by_size.index(size) + 2, 6) for size, bold in large}


def _parts(
    number: int,
    page: list[Line],
    levels: dict[tuple[float, bool], int],
    hyphenated: frozenset[str],
) -> Iterator[_Part]:
    """The headings and paragraphs of one page in order; a heading of several lines is one."""
    width = page_width([line.text for line in page], _NARROWEST)
    for level, lines in groupby(page, key=lambda line: _level(line, levels)):
        texts = [line.text for line in lines]
        if level:
            yield _Part(" ".join(texts), number, level)
        else:
            yield from (_Part(text, number) for text in paragraphs(texts, width, hyphenated))


def _level(line: Line, levels: dict[tuple[float, bool], int]) -> int:
    is_title = len(line.text) <= _LONGEST_HEADING and sum(map(str.isalpha, line.text)) >= 3
    return levels.get((line.size, line.is_bold), 0) if is_title else 0


def _title(reader: PdfReader) -> str:
    title = one_line(str((reader.metadata and reader.metadata.title) or ""))
    title = re.sub(r"\AMicrosoft \w+ - ", "", title)
    return "" if _TOOL_TITLE.match(title) else title
