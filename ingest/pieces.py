"""Breaks sections into pieces that are never cut again, and counts their tokens in few calls."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ingest.documents import Block
from ingest.sections import Section
from ingest.sentences import sentence_spans

CountTokens = Callable[[list[str]], list[int]]
"""The number of tokens of each text, without the special ones a model adds around it."""

_CHARACTERS_PER_TOKEN = 8
"""At most. To a WordPiece model a word of a megabyte is one unknown token."""

_TOKENS_PER_CHARACTER = 4
"""At most: a byte-level model makes four of an emoji."""


@dataclass(frozen=True)
class Piece:
    """A sentence, or a word or slice of one that is longer than a passage may be.

    `next` is where the following piece starts. The white space up to there is counted with this
    one, so that the sum of pieces is never below the count of the passage they make.
    """

    start: int
    end: int
    next: int
    block: Block
    section: int
    tokens: int = 0
    is_sentence: bool = True


def pieces_of(
    text: str, sections: list[Section], count_tokens: CountTokens, max_tokens: int
) -> list[Piece]:
    """All pieces in order, none above `max_tokens` but a single character that is.

    A section's first pieces are its heading. `count_tokens` is called twice at most.
    """
    pieces = _measured(text, list(_sentences(text, sections)), count_tokens)
    cut = [
        part
        for piece in pieces
        if piece.tokens > max_tokens
        for part in _cut(text, piece, max_tokens)
    ]
    if not cut:
        return pieces
    whole = [piece for piece in pieces if piece.tokens <= max_tokens]
    return sorted(whole + _measured(text, cut, count_tokens), key=lambda piece: piece.start)


def total(pieces: list[Piece]) -> int:
    """The tokens of all pieces together."""
    return sum(piece.tokens for piece in pieces)


def _sentences(text: str, sections: list[Section]) -> Iterator[Piece]:
    for number, section in enumerate(sections):
        spans = [
            (block.start + start, block.start + end, block)
            for block in (*section.heading, *section.blocks)
            for start, end in sentence_spans(text[block.start : block.end])
        ]
        following = [start for start, _, _ in spans[1:]] + [section.end]
        for (start, end, block), next_start in zip(spans, following, strict=False):
            yield Piece(start, end, next_start, block, number)


def _measured(text: str, pieces: list[Piece], count_tokens: CountTokens) -> list[Piece]:
    counts = count_tokens([text[piece.start : piece.next] for piece in pieces]) if pieces else []
    return [
        replace(piece, tokens=max(count, (piece.next - piece.start) // _CHARACTERS_PER_TOKEN))
        for piece, count in zip(pieces, counts, strict=True)
    ]


def _cut(text: str, piece: Piece, max_tokens: int) -> Iterator[Piece]:
    """A few of its words at a time, and long words in slices: whatever the tokenizer, they fit."""
    longest = max(1, max_tokens // _TOKENS_PER_CHARACTER)
    words = rf"\S[\s\S]{{0,{longest - 1}}}(?<=\S)(?=\s|\Z)"
    for match in re.finditer(rf"(?:{words}|\S{{1,{longest}}})\s*+", text[piece.start : piece.next]):
        start = piece.start + match.start()
        end, following = start + len(match[0].rstrip()), piece.start + match.end()
        yield replace(piece, start=start, end=end, next=following, is_sentence=False)
