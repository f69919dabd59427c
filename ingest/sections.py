"""Divides a document at its headings."""

import re
from dataclasses import dataclass

from ingest.documents import Block, LoadedDocument


@dataclass(frozen=True)
class Section:
    """The blocks under one heading, up to the next heading of any level.

    `path` holds the headings above, outermost first, its own last; before the first heading it
    is empty. A heading with nothing under it, not even another heading, is its own only block.
    """

    path: tuple[Block, ...]
    blocks: tuple[Block, ...]

    @property
    def heading(self) -> tuple[Block, ...]:
        """Its own heading, where that is not among the blocks."""
        return () if self.blocks[0].kind == "heading" else self.path[-1:]

    @property
    def end(self) -> int:
        return self.blocks[-1].end


def sections(document: LoadedDocument) -> list[Section]:
    """All sections with text of their own, in order; text without blocks is one paragraph."""
    found: list[Section] = []
    path: tuple[Block, ...] = ()
    body: list[Block] = []
    for block in document.blocks or [Block("paragraph", 0, len(document.text))]:
        if block.kind != "heading":
            body.append(block)
            continue
        found += _section(path, body, next_level=block.level)
        path = (*(above for above in path if above.level < block.level), block)
        body = []
    return found + _section(path, body, next_level=0)


def heading_path(document: LoadedDocument, path: tuple[Block, ...]) -> str:
    """`A > B`, without the first heading where that is the document's title."""
    names = [document.text[heading.start : heading.end] for heading in path]
    if names and _words(names[0]) == _words(document.title):
        names = names[1:]
    return " > ".join(names)


def _words(title: str) -> list[str]:
    return re.findall(r"\w+", title.casefold())


def _section(path: tuple[Block, ...], body: list[Block], next_level: int) -> list[Section]:
    if not body and path and next_level <= path[-1].level:
        body = [path[-1]]
    return [Section(path, tuple(body))] if body else []
