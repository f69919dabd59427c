"""Cuts a document into passages: small enough to embed, whole enough to quote."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ingest.documents import Block, LoadedDocument
from ingest.pieces import CountTokens, Piece, pieces_of, total
from ingest.sections import Section, heading_path, sections

_DEEPEST_BORDER = 2
"""No passage crosses a heading of this level or above: those part topics, not details."""

_SMALL_SECTION = 40
"""Tokens. A smaller section says too little alone, and may join its neighbour."""


@dataclass(frozen=True)
class Passage:
    """`document.text[start:end]`, without white space at its ends; offsets in code points.

    `section` are the ends of the text under its heading, up to the next one that parts passages.
    """

    start: int
    end: int
    heading: str
    page: int | None
    section: tuple[int, int]


@dataclass(frozen=True)
class _Part:
    """A section, or small ones joined under their parent's path.

    The headings of joined sections are among the pieces; that of a section alone is not.
    """

    path: tuple[Block, ...]
    pieces: list[Piece]
    heading: list[Piece]

    @property
    def tokens(self) -> int:
        return total(self.pieces)

    @property
    def span(self) -> tuple[int, int]:
        return self.pieces[0].start, self.pieces[-1].end


def split(
    document: LoadedDocument,
    count_tokens: CountTokens,
    *,
    max_tokens: int = 230,
    overlap_tokens: int = 40,
) -> list[Passage]:
    """The passages in order; every character that is not white space or a heading is in one.

    Passages of one section overlap by whole sentences. `count_tokens` is called twice at most,
    with many texts at a time.
    """
    found = sections(document)
    pieces = pieces_of(document.text, found, count_tokens, max_tokens)
    by_section = groupby(pieces, key=lambda piece: piece.section)
    parts = [_part(found[number], list(group)) for number, group in by_section]
    return [
        Passage(packed[0].start, packed[-1].end, heading_path(document, part.path), page, part.span)
        for part in _joined(parts, max_tokens // 2)
        for page, packed in _packed(part.pieces, max_tokens, overlap_tokens)
    ]


def _part(section: Section, pieces: list[Piece]) -> _Part:
    heading = [piece for piece in pieces if piece.start < section.blocks[0].start]
    return _Part(section.path, pieces[len(heading) :], heading)


def _joined(parts: list[_Part], max_tokens: int) -> list[_Part]:
    """The parts, small neighbours under one parent joined."""
    found: list[_Part] = []
    for part in parts:
        both = _both(found[-1], part) if found else None
        if both and both.tokens <= max_tokens:
            found[-1] = both
        else:
            found.append(part)
    return found


def _both(part: _Part, following: _Part) -> _Part | None:
    """Both as one under the parent they share, if one is small and no border lies between."""
    is_small = min(part.tokens, following.tokens) < _SMALL_SECTION
    if not is_small or not following.path or following.path[-1].level <= _DEEPEST_BORDER:
        return None
    parent = following.path[:-1]
    pieces = part.pieces + following.heading + following.pieces
    if part.path == parent:
        return _Part(parent, pieces, [])
    if part.path[:-1] == parent and part.path[-1].level > _DEEPEST_BORDER:
        return _Part(parent, part.heading + pieces, [])
    return None


def _packed(
    pieces: list[Piece], max_tokens: int, overlap_tokens: int
) -> Iterator[tuple[int | None, list[Piece]]]:
    """The pieces of each passage, and the page of the first that is not overlap."""
    current: list[Piece] = []
    page = pieces[0].block.page
    for unit in _units(pieces, max_tokens):
        tokens = total(unit)
        if current and total(current) + tokens > max_tokens:
            yield page, current
            current = _tail(current, min(overlap_tokens, max_tokens - tokens))
            page = unit[0].block.page
        current = current + unit
    yield page, current


def _units(pieces: list[Piece], max_tokens: int) -> Iterator[list[Piece]]:
    """The blocks that fit into a passage, and the single pieces of those that do not."""
    for _, group in groupby(pieces, key=lambda piece: piece.block.start):
        block = list(group)
        if total(block) <= max_tokens:
            yield block
        else:
            yield from ([piece] for piece in block)


def _tail(pieces: list[Piece], room: int) -> list[Piece]:
    """The last whole sentences that fit, never all of them."""
    first = len(pieces)
    while first > 1 and pieces[first - 1].is_sentence and pieces[first - 1].tokens <= room:
        first -= 1
        room -= pieces[first].tokens
    return pieces[first:]
