"""Which chunks of a base a golden question's labels point at, as the base is split now."""

import asyncio
from collections.abc import Sequence

from eval.golden import GoldenQuestion, Label
from eval.labels import holds_quote, states_quote
from ingest.errors import ServiceError
from ingest.filters import Condition, Filters
from ingest.index import Index
from ingest.ports import DocumentRecord
from ingest.scope import Scope

NEAR = 50
"""Chunks of the labelled document that are looked at, nearest to the quote first."""


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
    found: dict[str, list[str]] = {}
    stale: list[str] = []
    for question in questions:
        chunks = await asyncio.gather(
            *(_chunks(index, scope, base, documents, label) for label in question.relevant)
        )
        for label, ids in zip(question.relevant, chunks, strict=True):
            if not ids:
                stale.append(f"{question.id}: {label.document}: {label.quote[:60]!r}")
        found[question.id] = list(dict.fromkeys(one for ids in chunks for one in ids))
    if stale:
        raise StaleLabels(
            f"{len(stale)} labels are no longer found in {base}: " + "; ".join(stale[:20])
        )
    return found


async def _chunks(
    index: Index, scope: Scope, base: str, documents: dict[str, DocumentRecord], label: Label
) -> list[str]:
    document = documents.get(label.document)
    if document is None:
        return []
    text = await index.text(scope, base, document.document_id, document.revision)
    if text is None or not holds_quote(text, label.quote):
        return []
    only = Filters([Condition("document_id", [document.document_id])])
    near = await index.search(
        scope, base, label.quote, [label.quote], limit=NEAR, filters=only, exact=True
    )
    return [c.chunk.chunk_id for c in near if states_quote(c.chunk.text, label.quote)]
