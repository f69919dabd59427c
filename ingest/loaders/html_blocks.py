"""Walks an HTML tree and appends what a reader sees of it, block by block."""

from dataclasses import dataclass, field
from typing import Any

from lxml.etree import iterwalk  # type: ignore[import-untyped]

from ingest.loaders.assembly import Assembly
from ingest.loaders.html_tables import is_data_table, table_rows
from ingest.loaders.html_text import BLOCKS, is_dropped, spaced, visible_text

_LISTS = ("ul", "ol", "menu")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def add_blocks(assembly: Assembly, root: Any) -> None:
    """Append the visible blocks under `root`, without menus, footers, scripts and hidden parts."""
    walk = _Walk(assembly)
    # Not recursive: pages nest thousands deep, by mistake or on purpose.
    events = iterwalk(root, events=("start", "end"))
    for event, element in events:
        if event == "start":
            if walk.is_done_with(element):
                events.skip_subtree()
        else:
            walk.leave(element)
            walk.take(spaced(element.tail) if element is not root else "")
    walk.flush()


@dataclass
class _Walk:
    assembly: Assembly
    _parts: list[str] = field(default_factory=list)
    _counters: list[int | None] = field(default_factory=list)
    _bullet: str = ""
    _heading: int = 0

    def is_done_with(self, element: Any) -> bool:
        """Take the start of an element, and say whether what is inside it is to be skipped."""
        tag = element.tag
        if is_dropped(element):
            return True
        if tag in BLOCKS:
            self.flush()
        if tag == "pre":
            self.assembly.add("code", visible_text(element, keep_space=True))
            return True
        if tag == "table" and is_data_table(element):
            self._add_table(element)
            return True
        if tag in _HEADINGS:
            self._heading = int(tag[1])
        elif tag in _LISTS:
            self._counters.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._open_item()
        self.take("\n" if tag == "br" else spaced(element.text))
        return False

    def leave(self, element: Any) -> None:
        if element.tag in BLOCKS:
            self.flush()
        if element.tag in _HEADINGS:
            self._heading = 0
        elif element.tag == "li":
            self._bullet = ""
        elif element.tag in _LISTS and self._counters and not is_dropped(element):
            self._counters.pop()

    def take(self, text: str) -> None:
        self._parts.append(text)

    def flush(self) -> None:
        """End the block: what was taken since the last one is a paragraph, heading or item."""
        text = "".join(self._parts)
        self._parts.clear()
        if not text.strip():
            return
        if self._bullet:
            level = max(len(self._counters) - 1, 0)
            self.assembly.add("list_item", self._bullet + text, level=level)
            self._bullet = ""
        elif self._heading:
            self.assembly.add("heading", text, level=self._heading)
        else:
            self.assembly.add("paragraph", text)

    def _open_item(self) -> None:
        number = self._counters[-1] if self._counters else None
        self._bullet = "- " if number is None else f"{number}. "
        if number is not None:
            self._counters[-1] = number + 1

    def _add_table(self, table: Any) -> None:
        for caption in table.iterchildren("caption"):
            self.assembly.add("paragraph", visible_text(caption))
        for row in table_rows(table):
            self.assembly.add("table_row", row)
