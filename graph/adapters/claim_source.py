"""What a sentence of an answer is checked against: the passages it cites, and what is around."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ingest.documents import Block, Chunk, LoadedDocument
from ingest.pieces import CountTokens
from ingest.splitter import split
from nodes.findings import Citation, Sentence
from nodes.ports import Sources

AROUND = 600
"""Code points of the document on each side of a quote in no passage that are read with it."""
TOKENS = 210
"""Model tokens encoded in one piece: the smaller model reads 256, and cuts what is longer."""


@dataclass(frozen=True)
class Part:
    """`text` begins at `start` of the stored document; `chunk` where it is a passage of the
    evidence, whose vectors are kept."""

    document_id: str
    revision: str
    start: int
    text: str
    chunk: Chunk | None = field(default=None, compare=False)


def cited_parts(sentence: Sentence, sources: Sources) -> list[Part]:
    """In the order of the citations, which must be valid: the passage of the evidence that a quote
    stands in, or else what is around it, those that overlap joined."""
    found: dict[Part, None] = {}
    for citation in sentence.citations:
        text = sources.texts[citation.document_id, citation.revision]
        known = _passage(citation, text, sources.passages)
        if known is not None:
            found[known] = None
            continue
        start, end = max(0, citation.start - AROUND), min(len(text), citation.end + AROUND)
        for part in [p for p in found if p.chunk is None and _same_text(p, citation)]:
            if part.start <= end and start <= part.start + len(part.text):
                start = min(start, part.start)
                end = max(end, part.start + len(part.text))
                del found[part]
        found[Part(citation.document_id, citation.revision, start, text[start:end])] = None
    return list(found)


def _passage(citation: Citation, text: str, passages: Sequence[Chunk]) -> Part | None:
    """As it is stored now: one that was found in another state is not read."""
    for chunk in passages:
        own = (chunk.document_id, chunk.revision) == (citation.document_id, citation.revision)
        around = chunk.start <= citation.start and citation.end <= chunk.end
        if own and around and text[chunk.start : chunk.end] == chunk.text:
            return Part(chunk.document_id, chunk.revision, chunk.start, chunk.text, chunk)
    return None


def pieces(parts: Sequence[Part], count_tokens: CountTokens) -> list[Part]:
    """The parts cut at sentences, so that the embedder reads each one whole: a passage is so."""
    found: list[Part] = []
    for part in parts:
        cut = [(0, len(part.text))] if part.chunk else _cut(part.text, count_tokens)
        found += [replace(part, start=part.start + a, text=part.text[a:b]) for a, b in cut]
    return found


def _cut(text: str, count_tokens: CountTokens) -> list[tuple[int, int]]:
    paragraphs = [
        Block("paragraph", match.start(), match.end())
        for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text)
    ]
    document = LoadedDocument(text, "", "text/plain", paragraphs)
    cut = split(document, count_tokens, max_tokens=TOKENS, overlap_tokens=0)
    return [(passage.start, passage.end) for passage in cut] or [(0, len(text))]


def _same_text(part: Part, citation: Citation) -> bool:
    return (part.document_id, part.revision) == (citation.document_id, citation.revision)
