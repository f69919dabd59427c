"""Token vectors in a database: a file beside the index, read by memory map, or PostgreSQL."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from ingest.database import Database, Tables
from ingest.errors import DependencyError
from ingest.passage_vectors import PassageVectors
from ingest.ports import StoredChunk

T = TypeVar("T")

PAGE_BYTES = 8192
"""A passage takes about 60 KB: larger pages leave more of the last one empty."""

MAPPED_BYTES = 2**31 - 65536
"""As much as SQLite maps at most; what lies beyond is read from the file."""

VECTORS = Tables(
    "the token vectors",
    "token_vectors.sqlite",
    """
CREATE TABLE IF NOT EXISTS token_vectors (
  chunk_id TEXT PRIMARY KEY, embedder TEXT, tenant TEXT, knowledge_base TEXT, document_id TEXT,
  revision TEXT, vectors BLOB);
CREATE INDEX IF NOT EXISTS token_vectors_by_revision
  ON token_vectors (tenant, knowledge_base, document_id, revision, embedder);
""",
    pragmas=(
        f"page_size = {PAGE_BYTES}",
        "auto_vacuum = INCREMENTAL",
        "journal_mode = WAL",
        "synchronous = FULL",
    ),
    hint="without that file they are computed anew",
    statement_s=600,  # deleting those of a large base, 60 KB each
)
READ_VECTORS = replace(VECTORS, pragmas=(f"mmap_size = {MAPPED_BYTES}",))

READ = 500
"""Passages read by one statement: it takes 32,766 values at most."""


class SqlPassageVectors:
    """A PassageVectorStore: each call one transaction, so that a crash leaves all of it or nothing.
    Reads have a connection of their own and do not wait for writes."""

    def __init__(
        self, writes: Database, reads: Database, *, embedder: str, keeps: bool = True
    ) -> None:
        self.keeps = keeps
        self._embedder = embedder
        self._writer = writes
        self._reader = reads
        self._writes = ThreadPoolExecutor(1, thread_name_prefix="vectors-write")
        self._reads = ThreadPoolExecutor(1, thread_name_prefix="vectors-read")

    async def put(self, chunks: Sequence[StoredChunk], vectors: Sequence[PassageVectors]) -> None:
        if vectors:
            await _in(self._writes, lambda: self._put(chunks, vectors))

    async def get(self, chunk_ids: Sequence[str]) -> dict[str, PassageVectors]:
        return await _in(self._reads, lambda: self._get(chunk_ids))

    async def count(self, tenant: str, knowledge_base: str) -> int:
        return await _in(self._reads, lambda: self._count(tenant, knowledge_base))

    async def delete_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None:
        place = (tenant, knowledge_base, document_id, revision)
        where = "tenant = ? AND knowledge_base = ? AND document_id = ? AND revision = ?"
        await _in(self._writes, lambda: self._delete(where, place))

    async def delete_knowledge_base(self, tenant: str, knowledge_base: str) -> None:
        where = "tenant = ? AND knowledge_base = ?"
        await _in(self._writes, lambda: self._delete(where, (tenant, knowledge_base)))

    def close(self) -> None:
        for pool in (self._reads, self._writes):
            pool.shutdown()
        self._reader.close()
        self._writer.close()

    def _put(self, chunks: Sequence[StoredChunk], vectors: Sequence[PassageVectors]) -> None:
        self._writer.check_space()
        with self._writer.transaction() as db:
            db.executemany(
                "INSERT INTO token_vectors VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (chunk_id) DO UPDATE SET embedder = excluded.embedder, "
                "vectors = excluded.vectors",
                (
                    (
                        stored.chunk.chunk_id,
                        self._embedder,
                        stored.tenant,
                        stored.knowledge_base,
                        stored.chunk.document_id,
                        stored.chunk.revision,
                        one.to_bytes(),
                    )
                    for stored, one in zip(chunks, vectors, strict=False)
                ),
            )

    def _get(self, chunk_ids: Sequence[str]) -> dict[str, PassageVectors]:
        found: dict[str, PassageVectors] = {}
        for start in range(0, len(chunk_ids), READ):
            named = chunk_ids[start : start + READ]
            with self._reader.transaction() as db:
                rows = db.execute(
                    "SELECT chunk_id, vectors FROM token_vectors "
                    f"WHERE chunk_id IN ({', '.join('?' * len(named))}) AND embedder = ?",
                    (*named, self._embedder),
                ).fetchall()
            found |= {key: PassageVectors.from_bytes(stored) for key, stored in rows}
        return found

    def _count(self, tenant: str, knowledge_base: str) -> int:
        with self._reader.transaction() as db:
            found = db.execute(
                "SELECT count(*) FROM token_vectors "
                "WHERE tenant = ? AND knowledge_base = ? AND embedder = ?",
                (tenant, knowledge_base, self._embedder),
            ).fetchone()
        return int(found[0])

    def _delete(self, where: str, values: tuple[str, ...]) -> None:
        with self._writer.transaction() as db:
            db.execute(f"DELETE FROM token_vectors WHERE {where}", values)
        self._writer.reclaim()


async def _in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, work)
    except ValueError as error:
        raise DependencyError(f"the token vectors: {error}") from error
