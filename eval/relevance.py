"""Which chunks of a base a golden question's labels point at, as the base is split now."""

import asyncio
import difflib
from collections.abc import Collection, Sequence

from eval.golden import GoldenQuestion, Label
from eval.labels import holds_quote, states_quote
from ingest.documents import Chunk
from ingest.errors import ServiceError
from ingest.filters import Condition, Filters
from ingest.index import Index
from ingest.ports import DocumentRecord
from ingest.scope import Scope

SHOWN = 20
"""Stale labels that one error names."""


class StaleLabels(ServiceError):
    """Labels that point at nothing: the document changed or is gone."""

    code = "stale_labels"


async def relevant_chunks(
    index: Index, scope: Scope, base: str, questions: Sequence[GoldenQuestion]
) -> dict[str, list[str]]:
    """Chunk ids by question id: those that hold a labelled quote, or a whole sentence of it.

    Raises StaleLabels that names each question whose document or quote is no longer found.
    """
    documents = {d.source: d for d in await index.documents(scope, base)}
    labelled = dict.fromkeys(label.document for q in questions for label in q.relevant)
    known = [documents[name] for name in labelled if name in documents]
    most = max((document.chunks for document in documents.values()), default=0)
    read = await asyncio.gather(*(read_document(index, scope, base, one, most) for one in known))
    texts = {document.source: one for document, one in zip(known, read, strict=True)}
    found: dict[str, list[str]] = {}
    stale: list[str] = []
    for question in questions:
        chunks = [_chunks(texts.get(label.document), label) for label in question.relevant]
        for label, ids in zip(question.relevant, chunks, strict=True):
            if not ids:
                stale.append(f"{question.id}: {label.document}: {_why(label, documents)}")
        found[question.id] = list(dict.fromkeys(one for ids in chunks for one in ids))
    if stale:
        raise StaleLabels(
            f"{len(stale)} labels are no longer found in {base}: "
            + "; ".join(stale[:SHOWN])
            + ". Bring the documents back, or correct the labels"
        )
    return found


def _why(label: Label, documents: Collection[str]) -> str:
    if label.document in documents:
        return f"{label.quote[:60]!r} does not stand there"
    near = difflib.get_close_matches(label.document, documents, n=1)
    return "no such document" + (f"; did you mean {near[0]}?" if near else "")


async def read_document(
    index: Index, scope: Scope, base: str, document: DocumentRecord, most: int
) -> tuple[str, list[Chunk]]:
    """The document's text and all its chunks: a search of as many as the longest document has."""
    text = await index.text(scope, base, document.document_id, document.revision)
    only = Filters([Condition("document_id", [document.document_id])])
    title = document.title or document.source
    found = await index.search(scope, base, title, [title], limit=most, filters=only, exact=True)
    return text or "", [candidate.chunk for candidate in found]


def _chunks(document: tuple[str, list[Chunk]] | None, label: Label) -> list[str]:
    if document is None or not holds_quote(document[0], label.quote):
        return []
    return [chunk.chunk_id for chunk in document[1] if states_quote(chunk.text, label.quote)]
