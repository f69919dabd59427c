"""The visible text of Word's paragraphs and table cells."""

from collections.abc import Iterator
from typing import Any

from lxml.etree import QName, iterwalk  # type: ignore[import-untyped]

from ingest.loaders.docx_package import W

TEXT_BOX = f"{W}txbxContent"

_SKIPPED = frozenset({TEXT_BOX, f"{W}pPr", f"{W}rPr", f"{W}del", f"{W}moveFrom"})
_SPOKEN = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def content(parent: Any) -> Iterator[Any]:
    """The paragraphs and tables under an element, also those in content controls."""
    for child in parent:
        if child.tag in (f"{W}p", f"{W}tbl"):
            yield child
        elif child.tag not in _SKIPPED and not _is_fallback(child):
            yield from content(child)


def text_boxes(paragraph: Any) -> Iterator[Any]:
    """The text boxes anchored in a paragraph, each once, outermost first."""
    events = iterwalk(paragraph, events=("start",))
    for _, element in events:
        if _is_fallback(element):
            events.skip_subtree()
        elif element.tag == TEXT_BOX:
            yield element
            events.skip_subtree()


def paragraph_text(paragraph: Any) -> str:
    """The text of its runs, links and formulas, without deleted and hidden text."""
    parts: list[str] = []
    events = iterwalk(paragraph, events=("start",))
    for _, element in events:
        if element.tag in _SKIPPED or _is_fallback(element) or _is_hidden(element):
            events.skip_subtree()
            continue
        name = QName(element).localname
        if name == "t":
            parts.append(element.text or "")
        elif element.tag.startswith(W):
            parts.append(_SPOKEN.get(name, ""))
    return "".join(parts)


def cell_text(cell: Any) -> str:
    """All paragraphs of a cell on one line, those of tables inside it too."""
    return " ".join(paragraph_text(paragraph) for paragraph in cell.iter(f"{W}p"))


def _is_fallback(element: Any) -> bool:
    """The second copy of a drawing, for programs that cannot show the first."""
    return str(QName(element).localname) == "Fallback"


def _is_hidden(element: Any) -> bool:
    if element.tag != f"{W}r":
        return False
    vanish = element.find(f"{W}rPr/{W}vanish")
    return vanish is not None and str(vanish.get(f"{W}val", "1")) not in ("0", "false")
