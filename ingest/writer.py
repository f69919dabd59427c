"""Writes documents into a knowledge base so that a reader sees the old or the new, never both."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from ingest.acl import both, parse_acl
from ingest.documents import LoadedDocument, revision_id
from ingest.errors import InvalidRequest, NotFound
from ingest.live import AUTO, LiveBases, require_known
from ingest.passage_vectors import PassageVectorStore, embedded
from ingest.ports import (
    ChunkStore,
    DocumentRecord,
    Embedder,
    KnowledgeBase,
    Records,
    SparseEncoder,
    StoredChunk,
)
from ingest.preparing import Prepared, prepared, with_acl
from ingest.records import NAME, NAME_RULE, WrittenElsewhere
from ingest.scope import EVERYONE, Scope
from ingest.settings import SplitSettings
from ingest.turns import Turns

T = TypeVar("T")


class Writer:
    """The only one of its process who writes to the store and the records. Calls are serialised,
    for each base over all processes that share the records.

    Order of a replacement: note the intent, write the new chunks, switch the live revision in one
    transaction, delete the old chunks. The chunks of many documents are written at once.
    A crash in between leaves chunks that no reader sees and that `recover` deletes, or the next
    write to the base; who was taken for dead and goes on cannot make a revision live.
    """

    def __init__(
        self,
        *,
        embedder: Embedder,
        sparse: SparseEncoder,
        store: ChunkStore,
        vectors: PassageVectorStore,
        records: Records,
        bases: LiveBases,
        split: SplitSettings,
        pipeline: str,
    ) -> None:
        self._embedder = embedder
        self._sparse = sparse
        self._store = store
        self._vectors = vectors
        self._records = records
        self._bases = bases
        self._split = split
        self._pipeline = pipeline
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._turns = Turns(records, self._pool)

    async def create_knowledge_base(
        self,
        scope: Scope,
        name: str,
        description: str = "",
        *,
        web: bool = False,
        acl: Sequence[str] = (EVERYONE,),
        examples: Sequence[str] = (),
    ) -> KnowledgeBase:
        """Raises InvalidRequest for a bad name and for one that exists."""
        if not NAME.fullmatch(name):
            raise InvalidRequest(NAME_RULE)
        if name == AUTO:
            raise InvalidRequest(f"{AUTO!r} stands for all knowledge bases; take another name")
        encoders = (self._embedder.fingerprint, self._sparse.fingerprint)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        base = KnowledgeBase(name, description, now, *encoders, web=web, acl=parse_acl(acl))
        base = replace(base, examples=list(examples))
        await self._run(lambda: self._records.create_knowledge_base(scope.tenant, base))
        return base

    async def delete_knowledge_base(self, scope: Scope, name: str) -> None:
        """Raises UnknownKnowledgeBase. It stops answering before its chunks are gone."""

        async def work() -> None:
            await self._run(lambda: self._records.delete_knowledge_base(scope.tenant, name))
            await self._store.delete_knowledge_base(scope.tenant, name)
            await self._vectors.delete_knowledge_base(scope.tenant, name)
            await self._run(lambda: self._records.forget_knowledge_base(scope.tenant, name))

        await self._turns.run(scope.tenant, name, work)

    def revision(self, content: bytes) -> str:
        return revision_id(hashlib.sha256(content).hexdigest(), self._pipeline)

    async def prepare(
        self,
        scope: Scope,
        base: str,
        source: str,
        content: bytes,
        loaded: LoadedDocument,
        acl: list[str] | None = None,
    ) -> Prepared:
        return await self._run(
            lambda: prepared(
                loaded,
                content,
                scope=scope,
                knowledge_base=base,
                source=source,
                revision=self.revision(content),
                count_tokens=self._embedder.count_tokens,
                settings=self._split,
                acl=acl,
            )
        )

    async def write(
        self, scope: Scope, base: str, documents: Sequence[Prepared]
    ) -> list[DocumentRecord]:
        """Embeds all in one go, then makes each document live on its own; their records.

        Raises UnknownKnowledgeBase when the base is gone.
        """
        chunks = [chunk for document in documents for chunk in document.chunks]
        dense, tokens = await embedded(self._embedder, chunks, tokens=self._vectors.keeps)
        vectors = iter(dense)

        async def work() -> list[DocumentRecord]:
            await self._sweep(scope.tenant, base)
            known = (await self._bases.base(scope, base)).documents
            listed = [with_acl(one, known.get(one.record.document_id)) for one in documents]
            stored = [
                StoredChunk(
                    chunk=chunk,
                    tenant=scope.tenant,
                    knowledge_base=base,
                    acl=document.record.readers,
                    dense=next(vectors),
                    sparse=self._sparse.document(chunk.embedded_text),
                )
                for document in listed
                for chunk in document.chunks
            ]
            for document in listed:
                begin = partial(self._records.begin_revision, scope.tenant, base, document.record)
                await self._run(begin)
            await self._store.upsert(stored)
            await self._vectors.put(stored, tokens)
            return [await self._make_live(scope, base, document) for document in listed]

        return await self._turns.run(scope.tenant, base, work)

    async def set_acl(self, scope: Scope, base: str, document: str, acl: Sequence[str]) -> None:
        """At once, and cut short it is never wider than before or wanted. Raises NotFound."""
        new = parse_acl(acl)

        async def work() -> None:
            known = (await self._bases.base(scope, base)).documents.get(document)
            if known is None:
                raise NotFound("no such document")
            change = partial(self._records.set_document_acl, scope.tenant, base, document)
            # Who is admitted must stand in both, the record and the payload.
            await self._run(lambda: change(both(known.acl, new)))
            readers = replace(known, acl=new).readers
            await self._store.set_acl(scope.tenant, base, document, readers)
            await self._run(lambda: change(new))

        await self._turns.run(scope.tenant, base, work)

    async def describe(
        self, scope: Scope, base: str, description: str, examples: Sequence[str]
    ) -> KnowledgeBase:
        """What it holds and questions that it answers. Raises UnknownKnowledgeBase."""
        await self._bases.base(scope, base)
        await self._run(lambda: self._records.describe(scope.tenant, base, description, examples))
        return require_known(await self._bases.bases(scope), base)

    async def set_base_acl(self, scope: Scope, base: str, acl: Sequence[str]) -> None:
        """At once. Raises UnknownKnowledgeBase."""
        new = parse_acl(acl)
        await self._bases.base(scope, base)
        await self._run(lambda: self._records.set_base_acl(scope.tenant, base, new))

    async def delete_document(self, scope: Scope, base: str, document: str) -> None:
        """The document stops answering at once. Raises NotFound."""
        await self._bases.base(scope, base)

        async def work() -> None:
            delete = partial(self._records.delete_document, scope.tenant, base, document)
            if not await self._run(delete):
                raise NotFound("no such document")
            await self._sweep(scope.tenant, base)

        await self._turns.run(scope.tenant, base, work)

    async def recover(self) -> int:
        """Deletes the chunks of revisions that never went live or were replaced; their number.
        Bases that another process writes to are left to it."""
        swept = 0
        for place in sorted({place[:2] for place in await self._run(self._records.unfinished)}):
            with suppress(WrittenElsewhere):
                swept += await self._turns.run(*place, partial(self._sweep, *place), wait_s=0)
        return swept

    async def is_complete(self, scope: Scope, base: str, known: Iterable[DocumentRecord]) -> bool:
        """Whether the store has as many chunks of the base as these records say, or more."""
        wanted = sum(record.chunks for record in known)
        return await self._store.count(scope.tenant, base) >= wanted

    async def optimize(self) -> None:
        await self._store.optimize()

    def close(self) -> None:
        self._pool.shutdown()

    async def _make_live(self, scope: Scope, base: str, document: Prepared) -> DocumentRecord:
        place = (scope.tenant, base)
        original = await self._run(partial(self._records.original, *place, document.record))
        record = replace(document.record, duplicate_of=original)
        old = await self._run(partial(self._records.make_live, *place, record, document.text))
        if old is not None:
            await self._drop(scope.tenant, base, record.document_id, old)
        return record

    async def _sweep(self, tenant: str, base: str) -> int:
        """What earlier writes left, of a process that ended or to a store that did not answer."""
        dead = await self._run(lambda: self._records.abandoned(tenant, base))
        for document, revision in dead:
            await self._drop(tenant, base, document, revision)
        return len(dead)

    async def _drop(self, tenant: str, base: str, document: str, revision: str) -> None:
        await self._store.delete_revision(tenant, base, document, revision)
        await self._vectors.delete_revision(tenant, base, document, revision)
        await self._run(lambda: self._records.forget_revision(tenant, base, document, revision))

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
