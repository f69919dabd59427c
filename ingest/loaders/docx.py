"""Loads DOCX: the body of a Word document in order, with headings, lists and tables."""

from typing import Any

from lxml.etree import QName  # type: ignore[import-untyped]

from ingest.loaders.assembly import Assembly, Extract
from ingest.loaders.docx_package import W, WordPackage
from ingest.loaders.docx_styles import Styles
from ingest.loaders.docx_text import cell_text, content, paragraph_text, text_boxes
from ingest.loaders.metadata import known_metadata
from ingest.loaders.normalise import one_line

_MAX_SPAN = 50
_LONGEST_HEADER = 80
_PROPERTIES = {"keywords": "tags", "contentStatus": "status"}


def load_docx(data: bytes) -> Extract:
    """The body of the document; notes, comments, page headers and contents lists are left out."""
    package = WordPackage(data)
    assembly = Assembly()
    _add_content(assembly, Styles.of(package), package.document())
    properties = _properties(package)
    return Extract(
        assembly,
        property_title=properties.get("title", ""),
        metadata=known_metadata(properties),
    )


def _add_content(assembly: Assembly, styles: Styles, parent: Any) -> None:
    for element in content(parent):
        if element.tag == f"{W}tbl":
            _add_table(assembly, styles, element)
        else:
            _add_paragraph(assembly, styles, element)
            for box in text_boxes(element):
                _add_content(assembly, styles, box)


def _add_paragraph(assembly: Assembly, styles: Styles, paragraph: Any) -> None:
    text = paragraph_text(paragraph)
    if not text.strip() or styles.name(paragraph).startswith("toc "):
        return
    level = styles.heading_level(paragraph)
    bullet, depth = ("", 0) if level else styles.list_item(paragraph)
    if level:
        assembly.add("heading", text, level=level)
    elif bullet:
        assembly.add("list_item", bullet + text, level=depth)
    else:
        assembly.add("paragraph", text)


def _add_table(assembly: Assembly, styles: Styles, table: Any) -> None:
    rows = [list(row.iterfind(f"{W}tc")) for row in table.iterfind(f"{W}tr")]
    if max(map(len, rows), default=0) < 2:  # a frame around text
        for row in rows:
            for cell in row:
                _add_content(assembly, styles, cell)
        return
    texts = _columns(rows)
    if len(texts) > 1 and _has_headers(table, texts[0]):
        assembly.add_table(texts[0], texts[1:])
    else:
        assembly.add_table([], texts)


def _columns(rows: list[list[Any]]) -> list[list[str]]:
    """The texts by column: a cell that spans columns or rows is repeated in each."""
    found: list[list[str]] = []
    for row in rows:
        texts: list[str] = []
        for cell in row:
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and merged.get(f"{W}val") != "restart"
            above = found[-1][len(texts) : len(texts) + 1] if found else []
            text = above[0] if goes_on and above else one_line(cell_text(cell))
            texts += [text] * _span(cell)
        found.append(texts)
    return found


def _span(cell: Any) -> int:
    span = cell.find(f"{W}tcPr/{W}gridSpan")
    value = span.get(f"{W}val", "") if span is not None else ""
    return min(max(int(value), 1), _MAX_SPAN) if value.isdecimal() else 1


def _has_headers(table: Any, first: list[str]) -> bool:
    """Whether the first row is marked as headers, or styled so and reads like it."""
    if table.find(f"{W}tr/{W}trPr/{W}tblHeader") is not None:
        return True
    look = table.find(f"{W}tblPr/{W}tblLook")
    if look is None:
        return False
    bits = int(look.get(f"{W}val", "0") or "0", 16)
    styled = look.get(f"{W}firstRow", "1" if bits & 0x20 else "0") in ("1", "true")
    return styled and all(0 < len(text) <= _LONGEST_HEADER for text in first)


def _properties(package: WordPackage) -> dict[str, str]:
    tree = package.part("docProps/core.xml")
    found = {QName(item).localname: item.text or "" for item in tree} if tree is not None else {}
    return {_PROPERTIES.get(name, name): text for name, text in found.items()}
