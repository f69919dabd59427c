"""Embeds the passages of a knowledge base anew, beside the old ones, and then switches at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ingest.compose import Holdings
from ingest.errors import DependencyError
from ingest.live import require_known
from ingest.passage_vectors import AT_ONCE, embedded
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
    """How many passages were embedded; what an earlier attempt embedded is kept. Where the
    encoders are the present ones only token vectors are made, of the passages without.

    Passages stay as they were split; so do revisions, so that the next ingestion of the sources
    reads them anew. Raises UnknownKnowledgeBase, and DependencyError where passages are missing.
    """
    base = require_known(held.records.knowledge_bases(tenant), name)
    documents = held.records.documents(tenant, name)
    wanted = sum(document.chunks for document in documents)
    now = (held.encoders.embedder, held.encoders.sparse)
    if (base.embedder, base.sparse) == now:
        await held.store.check(tenant, [name])
        return await _make_tokens(held, tenant, name, documents, on_chunks)
    done = 0
    if not await draft.took_place(tenant, name):
        for group in _groups(documents):
            fresh = [d for d in group if not await _has(draft, tenant, name, d)]
            stored = [one for d in fresh for one in await _read(old, tenant, name, d)]
            await draft.upsert(await _embedded(held, stored))
            done += len(stored)
            on_chunks(done, wanted)
        await _switch(old, draft, tenant, name, wanted)
        await held.store.optimize()
    held.records.set_encoders(tenant, name, *now)
    return done


async def _make_tokens(
    held: Holdings,
    tenant: str,
    name: str,
    documents: Sequence[DocumentRecord],
    on_chunks: OnChunks,
) -> int:
    wanted = sum(document.chunks for document in documents)
    if not held.vectors.keeps or await held.vectors.count(tenant, name) >= wanted:
        return 0
    done = 0
    for group in _groups(documents):
        stored = [one for d in group for one in await _read(held.store, tenant, name, d)]
        there = await held.vectors.get([one.chunk.chunk_id for one in stored])
        missing = [one for one in stored if one.chunk.chunk_id not in there]
        for start in range(0, len(missing), AT_ONCE):
            await _embedded(held, missing[start : start + AT_ONCE])
        done += len(missing)
        on_chunks(done, wanted)
    return done


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
    """With new vectors; the token vectors are kept at once."""
    if not stored:
        return []
    chunks = [one.chunk for one in stored]
    dense, tokens = await embedded(held.embedder, chunks, tokens=held.vectors.keeps)
    await held.vectors.put(stored, tokens)
    return [
        replace(one, dense=row, sparse=held.sparse.document(one.chunk.embedded_text))
        for one, row in zip(stored, dense, strict=True)
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
