"""Builds a document's text block by block, so that offsets are right by construction."""

from dataclasses import dataclass, field

from ingest.documents import Block, BlockKind
from ingest.errors import LoadError
from ingest.loaders.normalise import clean, lines, one_line

MAX_CHARACTERS = 20_000_000
"""Of one document's text: ten times the longest novel, and still small in memory."""

MAX_HEADING = 200
"""Characters. A longer "heading" is a paragraph that was styled as one."""

MAX_INDENT = 8

_TIGHT: tuple[BlockKind, ...] = ("list_item", "table_row")


@dataclass
class Assembly:
    """Collects blocks in reading order; a blank line parts them, a line end rows and list items.

    `level` is that of a heading, or how deep a list item is nested.
    """

    blocks: list[Block] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0

    def add(self, kind: BlockKind, text: str, *, level: int = 0, page: int | None = None) -> None:
        """Append a block, normalised for its kind; one without visible text is left out."""
        if kind == "code":
            text = clean(text).strip("\n").rstrip()
        elif kind == "paragraph":
            text = lines(text)
        else:
            text = one_line(text)
        if not text.strip():
            return
        if kind == "heading" and len(text) > MAX_HEADING:
            kind, level = "paragraph", 0
        if self.blocks:
            same = self.blocks[-1].kind == kind and kind in _TIGHT
            self._append("\n" + "  " * min(level, MAX_INDENT) if same else "\n\n")
        start = self._length
        self._append(text)
        self.blocks.append(Block(kind, start, self._length, level, page))

    def add_table(self, headers: list[str], rows: list[list[str]]) -> None:
        """Append each row so that it can be read alone: `Plan: Pro | Price: 49 €`."""
        if not rows:
            headers, rows = [], [headers]
        for cells in rows:
            self.add("table_row", row_text(headers, cells))

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def first_h1(self) -> str:
        """The text of the first heading of level 1, or nothing."""
        for block in self.blocks:
            if block.kind == "heading" and block.level == 1:
                return self.text[block.start : block.end]
        return ""

    def _append(self, text: str) -> None:
        self._length += len(text)
        if self._length > MAX_CHARACTERS:
            raise LoadError(
                f"It holds more than {MAX_CHARACTERS:,} characters of text.", code="too_large"
            )
        self._parts.append(text)


@dataclass(frozen=True)
class Extract:
    """What a loader found. `title` is the author's own; `property_title` is often a tool's."""

    assembly: Assembly
    title: str = ""
    property_title: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


def row_text(headers: list[str], cells: list[str]) -> str:
    """A row with its headers; empty cells are left out, cells beyond the headers stand alone."""
    named = headers + [""] * (len(cells) - len(headers))
    pairs = [(one_line(name), one_line(cell)) for name, cell in zip(named, cells, strict=False)]
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
