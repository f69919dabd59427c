"""What a sentence of an answer is checked against: the passages it cites, and what is around."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.documents import Block, LoadedDocument
from ingest.pieces import CountTokens
from ingest.splitter import split
from nodes.findings import Sentence
from nodes.ports import Sources

AROUND = 600
"""Code points of the document on each side of a quote that are read with it."""
TOKENS = 210
"""Model tokens that are encoded in one piece: the model reads 256, and cuts what is longer."""


@dataclass(frozen=True)
class Part:
    """`text` begins at `start` of the stored document."""

    document_id: str
    revision: str
    start: int
    text: str


def cited_parts(sentence: Sentence, sources: Sources) -> list[Part]:
    """In the order of the citations, those that overlap joined. They must be valid."""
    found: list[Part] = []
    for citation in sentence.citations:
        text = sources.texts[citation.document_id, citation.revision]
        start, end = max(0, citation.start - AROUND), min(len(text), citation.end + AROUND)
        for part in [p for p in found if _same_document(p, citation.document_id)]:
            if part.start <= end and start <= part.start + len(part.text):
                start = min(start, part.start)
                end = max(end, part.start + len(part.text))
                found.remove(part)
        found.append(Part(citation.document_id, citation.revision, start, text[start:end]))
    return found


def pieces(parts: Sequence[Part], count_tokens: CountTokens) -> list[Part]:
    """The parts cut at sentences, so that the embedder reads each one whole."""
    return [
        Part(part.document_id, part.revision, part.start + start, part.text[start:end])
        for part in parts
        for start, end in _cut(part.text, count_tokens)
    ]


def _cut(text: str, count_tokens: CountTokens) -> list[tuple[int, int]]:
    paragraphs = [
        Block("paragraph", match.start(), match.end())
        for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text)
    ]
    document = LoadedDocument(text, "", "text/plain", paragraphs)
    cut = split(document, count_tokens, max_tokens=TOKENS, overlap_tokens=0)
    return [(passage.start, passage.end) for passage in cut] or [(0, len(text))]


def _same_document(part: Part, document_id: str) -> bool:
    return part.document_id == document_id
