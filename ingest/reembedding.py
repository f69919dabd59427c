"""Embeds the passages of a knowledge base anew, beside the old ones, and then switches at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ingest.compose import Holdings
from ingest.errors import DependencyError
from ingest.live import require_known
from ingest.ports import ChunkStore, DocumentRecord, DraftStore, StoredChunk

GROUP_CHUNKS = 512
"""Passages embedded in one go: the encoder sorts by length, so long lists are faster."""

OnChunks = Callable[[int, int], None]
"""Told how many passages of how many are done."""


async def reembed(
    held: Holdings,
    old: ChunkStore,
    draft: DraftStore,
    tenant: str,
    name: str,
    *,
    on_chunks: OnChunks = lambda done, of: None,
) -> int:
    """How many passages were embedded; what an earlier attempt embedded is kept.

    Passages stay as they were split; so do revisions, so that the next ingestion of the sources
    reads them anew. Raises UnknownKnowledgeBase, and DependencyError where passages are missing.
    """
    base = require_known(held.records.knowledge_bases(tenant), name)
    documents = held.records.documents(tenant, name)
    wanted = sum(document.chunks for document in documents)
    now = (held.encoders.embedder, held.encoders.sparse)
    if (base.embedder, base.sparse) == now:
        await held.store.check(tenant, [name])
        return 0
    embedded = 0
    if not await draft.took_place(tenant, name):
        for group in _groups(documents):
            fresh = [d for d in group if not await _has(draft, tenant, name, d)]
            stored = [one for d in fresh for one in await _read(old, tenant, name, d)]
            await draft.upsert(await _embedded(held, stored))
            embedded += len(stored)
            on_chunks(embedded, wanted)
        await _switch(old, draft, tenant, name, wanted)
        await held.store.optimize()
    held.records.set_encoders(tenant, name, *now)
    return embedded


def _groups(documents: Sequence[DocumentRecord]) -> Iterator[list[DocumentRecord]]:
    group: list[DocumentRecord] = []
    for document in documents:
        group.append(document)
        if sum(one.chunks for one in group) >= GROUP_CHUNKS:
            yield group
            group = []
    if group:
        yield group


async def _has(draft: DraftStore, tenant: str, name: str, document: DocumentRecord) -> bool:
    place = (tenant, name, document.document_id, document.revision)
    return len(await draft.read_revision(*place)) == document.chunks


async def _read(
    old: ChunkStore, tenant: str, name: str, document: DocumentRecord
) -> list[StoredChunk]:
    stored = await old.read_revision(tenant, name, document.document_id, document.revision)
    if len(stored) != document.chunks:
        raise DependencyError(
            f"{document.source!r} has {len(stored)} of its {document.chunks} passages; delete "
            f"{name!r} and ingest its folder again"
        )
    return stored


async def _embedded(held: Holdings, stored: Sequence[StoredChunk]) -> list[StoredChunk]:
    if not stored:
        return []
    texts = [one.chunk.embedded_text for one in stored]
    vectors = await held.embedder.embed(texts)
    return [
        replace(one, dense=dense, sparse=held.sparse.document(text))
        for one, dense, text in zip(stored, vectors, texts, strict=True)
    ]


async def _switch(old: ChunkStore, draft: DraftStore, tenant: str, name: str, wanted: int) -> None:
    """Only what was counted takes the place of what works."""
    found = await draft.count(tenant, name)
    if found != wanted:  # of an earlier attempt, before documents changed
        await draft.delete_knowledge_base(tenant, name)
        raise DependencyError(f"the draft has {found} of {wanted} passages; run the command again")
    if wanted:
        await draft.take_place(old, tenant, name)
    else:
        await old.delete_knowledge_base(tenant, name)
