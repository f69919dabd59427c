"""Qdrant Edge, the Qdrant engine in this process: one shard per knowledge base."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from qdrant_edge import (
    CountRequest,
    EdgeShard,
    Filter,
    HasIdCondition,
    Point,
    PointVectors,
    ScrollRequest,
    UpdateOperation,
)
from qdrant_edge import SparseVector as EdgeSparse

from ingest.adapters.chunk_cache import ChunkCache
from ingest.adapters.edge_filters import document_filter, revision_filter, scope_filter
from ingest.adapters.edge_queries import MAX_CHUNKS, arms, complete, stored_chunks
from ingest.adapters.edge_shards import EdgeShards
from ingest.adapters.payload import to_chunk, to_payload
from ingest.data_folder import check_space
from ingest.documents import Chunk
from ingest.errors import DependencyError, ServiceError
from ingest.filters import Filters
from ingest.ports import Hit, QueryVectors, StoredChunk
from ingest.scope import Scope

T = TypeVar("T")
LOG = logging.getLogger(__name__)

KEPT_CHUNKS = 50_000
"""Chunks kept in memory, about 2 KB each: up to 100 MB."""

PAGE = 200
"""Chunks read in one go: about 4 ms, so that nothing waits long for it."""


class QdrantEdgeStore:
    """A ChunkStore in a folder. A shard per base keeps term statistics apart between bases."""

    def __init__(
        self, folder: Path, dimension: int, *, threads: int = 4, kept_chunks: int = KEPT_CHUNKS
    ) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="qdrant-edge")
        self._shards = EdgeShards(folder, dimension, self._start_warming)
        self._chunks = ChunkCache(kept_chunks)

    async def check(self, tenant: str, knowledge_bases: Sequence[str]) -> None:
        """A shard does not name its embedder; the records in the same folder do."""

    async def upsert(self, chunks: Sequence[StoredChunk]) -> None:
        if chunks:
            await self._run(lambda: self._upsert(chunks))

    async def search(
        self,
        scope: Scope,
        knowledge_base: str,
        query: QueryVectors,
        *,
        limit: int,
        filters: Filters,
        exact: bool = False,
    ) -> list[Hit]:
        return await self._run(
            lambda: self._search(scope, knowledge_base, query, limit, filters, exact)
        )

    async def score(
        self, scope: Scope, knowledge_base: str, query: QueryVectors, chunk_ids: Sequence[str]
    ) -> dict[str, tuple[float, float]]:
        if not chunk_ids:
            return {}
        return await self._run(lambda: self._score(scope, knowledge_base, query, list(chunk_ids)))

    async def read_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> list[StoredChunk]:
        condition = revision_filter(document_id, revision)
        return await self._run(lambda: self._read(tenant, knowledge_base, condition))

    async def set_acl(
        self, tenant: str, knowledge_base: str, document_id: str, acl: Sequence[str]
    ) -> None:
        chunks, payload = document_filter(document_id), {"acl": list(acl)}
        await self._run(lambda: self._change(tenant, knowledge_base, chunks, payload))

    async def delete_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None:
        condition = revision_filter(document_id, revision)
        await self._run(lambda: self._delete(tenant, knowledge_base, condition))

    async def delete_knowledge_base(self, tenant: str, knowledge_base: str) -> None:
        await self._run(lambda: self._drop(self._shards.path(tenant, knowledge_base)))

    async def count(self, tenant: str, knowledge_base: str) -> int:
        return await self._run(lambda: self._count(tenant, knowledge_base))

    async def optimize(self) -> None:
        await self._run(self._shards.optimize)

    async def close(self) -> None:
        await self._run(self._shards.close)
        self._pool.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except ServiceError:
            raise
        except Exception as error:
            raise DependencyError(f"the embedded Qdrant store failed: {error}") from error

    def _upsert(self, chunks: Sequence[StoredChunk]) -> None:
        check_space(self._folder.parent)
        for path, group in self._by_shard(chunks).items():
            shard = self._shards.get(path, create=True)
            if shard is not None:
                shard.update(UpdateOperation.upsert_points([_point(stored) for stored in group]))
                shard.flush()
                self._chunks.keep_written(
                    path.name, {uuid.UUID(stored.chunk.chunk_id): stored.chunk for stored in group}
                )

    def _by_shard(self, chunks: Sequence[StoredChunk]) -> dict[Path, list[StoredChunk]]:
        groups: dict[Path, list[StoredChunk]] = {}
        for stored in chunks:
            groups.setdefault(self._shards.path(stored.tenant, stored.knowledge_base), []).append(
                stored
            )
        return groups

    def _search(
        self,
        scope: Scope,
        knowledge_base: str,
        query: QueryVectors,
        limit: int,
        filters: Filters,
        exact: bool,
    ) -> list[Hit]:
        path = self._shards.path(scope.tenant, knowledge_base)
        shard = self._shards.get(path)
        if shard is None:
            return []
        condition = scope_filter(scope, knowledge_base, filters)
        dense, sparse = arms(shard, query, limit, condition, exact=exact)
        found = {**dense, **sparse}.keys()
        dense_scores, sparse_scores = complete(shard, query, dense, sparse)
        return [
            Hit(chunk, dense_scores.get(point, 0.0), sparse_scores.get(point, 0.0))
            for point, chunk in self._chunks_of(shard, path, found).items()
        ]

    def _chunks_of(
        self, shard: EdgeShard, path: Path, points: Collection[uuid.UUID]
    ) -> dict[uuid.UUID, Chunk]:
        writes = self._chunks.writes
        kept = self._chunks.get(path.name, points)
        if len(kept) == len(points):
            return kept
        missing: list[Any] = [point for point in points if point not in kept]
        read = _chunks(shard.retrieve(missing, with_payload=True, with_vector=False))
        self._chunks.keep_read(path.name, read, as_of=writes)
        return kept | read

    def _score(
        self, scope: Scope, knowledge_base: str, query: QueryVectors, ids: list[str]
    ) -> dict[str, tuple[float, float]]:
        shard = self._shards.get(self._shards.path(scope.tenant, knowledge_base))
        if shard is None:
            return {}
        condition = scope_filter(scope, knowledge_base, Filters())
        condition = Filter(must=[*(condition.must or []), HasIdCondition(set(ids))])
        dense, sparse = arms(shard, query, len(ids), condition)
        return {str(point): (score, sparse.get(point, 0.0)) for point, score in dense.items()}

    def _read(self, tenant: str, knowledge_base: str, condition: Filter) -> list[StoredChunk]:
        shard = self._shards.get(self._shards.path(tenant, knowledge_base))
        return stored_chunks(shard, condition) if shard is not None else []

    def _change(self, tenant: str, base: str, chunks: Filter, payload: dict[str, Any]) -> None:
        shard = self._shards.get(self._shards.path(tenant, base))
        if shard is not None:
            shard.update(UpdateOperation.set_payload_by_filter(chunks, payload))
            shard.flush()

    def _delete(self, tenant: str, knowledge_base: str, condition: Filter) -> None:
        """Terms first: the engine goes on counting those of a deleted point until it is reopened,
        and every BM25 score of the base would be off."""
        path = self._shards.path(tenant, knowledge_base)
        shard = self._shards.get(path)
        if shard is not None:
            gone, _ = shard.scroll(ScrollRequest(limit=MAX_CHUNKS, filter=condition))
            points: list[Any] = [record.id for record in gone]
            bare = [PointVectors(point, {"bm25": EdgeSparse([], [])}) for point in points]
            shard.update(UpdateOperation.update_vectors(bare))
            shard.update(UpdateOperation.delete_points_by_filter(condition))
            shard.flush()
            self._chunks.forget(path.name, points)

    def _count(self, tenant: str, knowledge_base: str) -> int:
        shard = self._shards.get(self._shards.path(tenant, knowledge_base))
        return shard.count(CountRequest(exact=True)) if shard is not None else 0

    def _drop(self, path: Path) -> None:
        self._shards.drop(path)
        self._chunks.forget_shard(path.name)

    def _start_warming(self, path: Path, shard: EdgeShard) -> None:
        self._pool.submit(self._warm, path, shard).add_done_callback(_log_failure)

    def _warm(self, path: Path, shard: EdgeShard) -> None:
        """Reads chunks into memory beside the first searches: 50,000 take seconds."""
        page = None
        while self._shards.is_open(path, shard) and self._chunks.room > 0:
            writes = self._chunks.writes
            wanted = min(PAGE, self._chunks.room)
            request = ScrollRequest(limit=wanted, offset=page, with_payload=True)
            records, page = shard.scroll(request)
            self._chunks.keep_read(path.name, _chunks(records), as_of=writes)
            if page is None:
                return


def _chunks(records: Sequence[Any]) -> dict[uuid.UUID, Chunk]:
    return {record.id: to_chunk(str(record.id), record.payload or {}) for record in records}


def _log_failure(warming: Future[None]) -> None:
    """Searches read what is not in memory, so nothing else has to be done."""
    error = warming.exception()
    if error is not None:
        LOG.warning("chunks were not read into memory: %s", error)


def _point(stored: StoredChunk) -> Point:
    sparse = EdgeSparse(stored.sparse.indices, stored.sparse.values)
    vectors = {"dense": stored.dense.tolist(), "bm25": sparse}
    return Point(stored.chunk.chunk_id, vectors, to_payload(stored))
