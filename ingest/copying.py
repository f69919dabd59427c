"""Copies a knowledge base to another store, folder or name, with its vectors: nothing is embedded.

Document by document, in the order of a write (chunks, then the record), so that a copy that was cut
short is taken up by the same command, and one that is done copies nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ingest.documents import chunk_id, document_id
from ingest.errors import DependencyError, EmbedderMismatch, InvalidRequest
from ingest.live import require_known
from ingest.passage_vectors import PassageVectorStore
from ingest.ports import ChunkStore, DocumentRecord, KnowledgeBase, Records, StoredChunk


@dataclass(frozen=True)
class Place:
    """Where a base is: its records, its chunks, their token vectors and its name."""

    records: Records
    store: ChunkStore
    vectors: PassageVectorStore
    tenant: str
    name: str


@dataclass(frozen=True)
class CopyReport:
    """`documents` and `chunks` are all that the copy holds; `already` documents were there."""

    knowledge_base: str
    documents: int
    already: int
    chunks: int


OnDocument = Callable[[int, int], None]
"""Told how many documents of how many are done."""


async def copy_base(
    source: Place,
    target: Place,
    *,
    replace_target: bool = False,
    on_document: OnDocument = lambda done, of: None,
) -> CopyReport:
    """Raises InvalidRequest where the target has other documents, EmbedderMismatch where any base
    there is another embedder's, DependencyError where the counts do not agree in the end."""
    base = require_known(source.records.knowledge_bases(source.tenant), source.name)
    _hold_one_embedder(base, source, target, replace_target)
    if replace_target:
        await _clear(source, target)
    await _make(base, source, target)
    await target.store.check(target.tenant, [target.name])
    already = 0
    documents = source.records.documents(source.tenant, source.name)
    moves = {d.document_id: _moved(d, source, target) for d in documents}
    there = {d.document_id: d for d in target.records.documents(target.tenant, target.name)}
    _hold_nothing_else(target, there, {new.document_id for new in moves.values()})
    for n, old in enumerate(documents, start=1):
        new = moves[old.document_id]
        original = moves.get(old.duplicate_of or "")
        new = replace(new, duplicate_of=original.document_id if original else None)
        if there.get(new.document_id) == new and await _has_chunks(target, new):
            already += 1
        else:
            await _copy_document(source, target, old, new)
        on_document(n, len(documents))
    chunks = sum(document.chunks for document in documents)
    await _verify(target, chunks)
    await target.store.optimize()
    return CopyReport(target.name, len(documents), already, chunks)


async def _clear(source: Place, target: Place) -> None:
    """Chunks of a base whose records stay are cleared alone."""
    if not shares_records(source, target):
        names = [base.name for base in target.records.knowledge_bases(target.tenant)]
        if target.name in names:
            target.records.delete_knowledge_base(target.tenant, target.name)
    await target.store.delete_knowledge_base(target.tenant, target.name)
    if not _shares_vectors(source, target):
        await target.vectors.delete_knowledge_base(target.tenant, target.name)
    if not shares_records(source, target):
        target.records.forget_knowledge_base(target.tenant, target.name)


async def _make(base: KnowledgeBase, source: Place, target: Place) -> None:
    if shares_records(source, target):
        return
    there = {one.name for one in target.records.knowledge_bases(target.tenant)}
    if target.name not in there:
        target.records.create_knowledge_base(target.tenant, replace(base, name=target.name))


def _hold_one_embedder(
    base: KnowledgeBase, source: Place, target: Place, replace_target: bool
) -> None:
    """A folder is opened with one embedder: with two kinds of vectors in it, with none."""
    if shares_records(source, target):
        return
    for one in target.records.knowledge_bases(target.tenant):
        same = (one.embedder, one.sparse) == (base.embedder, base.sparse)
        if not same and not (replace_target and one.name == target.name):
            raise EmbedderMismatch(
                f"{one.name!r} in the target was embedded with {one.embedder}, {base.name!r} with "
                f"{base.embedder}, and a data folder is opened with one embedder: copy to another "
                "folder, or embed one of the two anew with the other's (crag kb reembed)"
            )


def shares_records(source: Place, target: Place) -> bool:
    """Whether only the chunks move: the records are the very same ones."""
    return target.records is source.records and target.name == source.name


def _shares_vectors(source: Place, target: Place) -> bool:
    """They are in the folder, wherever the chunks are."""
    return target.vectors is source.vectors and target.name == source.name


def _moved(record: DocumentRecord, source: Place, target: Place) -> DocumentRecord:
    """Under the id that this source has in the target."""
    if (source.tenant, source.name) == (target.tenant, target.name):
        return record
    return replace(record, document_id=document_id(target.tenant, target.name, record.source))


def _hold_nothing_else(target: Place, there: dict[str, DocumentRecord], copied: set[str]) -> None:
    others = [record.source for key, record in there.items() if key not in copied]
    if others:
        raise InvalidRequest(
            f"{target.name!r} in the target has {len(others)} documents that are not copied, such "
            f"as {others[0]!r}; copy under another name, or with --replace"
        )


async def _has_chunks(target: Place, record: DocumentRecord) -> bool:
    place = (target.tenant, target.name, record.document_id, record.revision)
    return len(await target.store.read_revision(*place)) == record.chunks


async def _copy_document(
    source: Place, target: Place, old: DocumentRecord, new: DocumentRecord
) -> None:
    place = (source.tenant, source.name, old.document_id, old.revision)
    stored = await source.store.read_revision(*place)
    text = source.records.text(*place)
    if len(stored) != old.chunks or text is None:
        raise DependencyError(
            f"{old.source!r} has {len(stored)} of its {old.chunks} passages; ingest it again first"
        )
    target.records.begin_revision(target.tenant, target.name, new)
    placed = [_placed(one, target, new) for one in stored]
    await target.store.upsert(placed)
    await _copy_vectors(source, target, stored, placed)
    replaced = target.records.make_live(target.tenant, target.name, new, text)
    if replaced is not None:
        dead = (target.tenant, target.name, new.document_id, replaced)
        await target.store.delete_revision(*dead)
        await target.vectors.delete_revision(*dead)
        target.records.forget_revision(*dead)


async def _copy_vectors(
    source: Place, target: Place, old: Sequence[StoredChunk], new: Sequence[StoredChunk]
) -> None:
    """What the source has of them: the others are computed when they are asked for."""
    if _shares_vectors(source, target) or not target.vectors.keeps:
        return
    found = await source.vectors.get([one.chunk.chunk_id for one in old])
    pairs = [
        (after, found[before.chunk.chunk_id])
        for before, after in zip(old, new, strict=True)
        if before.chunk.chunk_id in found
    ]
    await target.vectors.put([after for after, _ in pairs], [vectors for _, vectors in pairs])


def _placed(stored: StoredChunk, target: Place, document: DocumentRecord) -> StoredChunk:
    new = document.document_id
    chunk = stored.chunk
    if chunk.document_id != new:
        moved = chunk_id(new, chunk.revision, chunk.ordinal)
        chunk = replace(chunk, chunk_id=moved, document_id=new)
    return replace(
        stored,
        chunk=chunk,
        tenant=target.tenant,
        knowledge_base=target.name,
        acl=document.readers,
    )


async def _verify(target: Place, wanted: int) -> None:
    found = await target.store.count(target.tenant, target.name)
    if found < wanted:
        raise DependencyError(f"the copy has {found} of {wanted} passages; run the command again")
    if found > wanted:
        raise DependencyError(
            f"the copy has {found} passages, {found - wanted} more than the documents it is made "
            "of: of an earlier copy, or of another data folder under the same CRAG_QDRANT__PREFIX; "
            "use --replace if nobody else needs them"
        )
