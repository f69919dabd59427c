"""Qdrant Edge, the Qdrant engine in this process: one shard per knowledge base."""

import asyncio
import shutil
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    Filter,
    HasIdCondition,
    Modifier,
    PayloadSchemaType,
    Point,
    Query,
    QueryBatchRequest,
    QueryRequest,
    ScoredPoint,
    SearchParams,
    UpdateOperation,
)
from qdrant_edge import SparseVector as EdgeSparse

from ingest.adapters.edge_filters import revision_filter, scope_filter
from ingest.adapters.payload import INDEXED, to_chunk, to_payload
from ingest.documents import ID_SPACE
from ingest.errors import DependencyError
from ingest.filters import Filters
from ingest.ports import Hit, QueryVectors, StoredChunk
from ingest.scope import Scope

T = TypeVar("T")


class QdrantEdgeStore:
    """A ChunkStore in a folder. A shard per base keeps term statistics apart between bases."""

    def __init__(self, folder: Path, dimension: int, *, threads: int = 4) -> None:
        self._folder = folder
        self._dimension = dimension
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="qdrant-edge")
        self._shards: dict[Path, EdgeShard] = {}
        self._opening = threading.Lock()

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

    async def delete_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None:
        operation = UpdateOperation.delete_points_by_filter(revision_filter(document_id, revision))
        await self._run(lambda: self._update(tenant, knowledge_base, operation))

    async def delete_knowledge_base(self, tenant: str, knowledge_base: str) -> None:
        await self._run(lambda: self._drop(self._path(tenant, knowledge_base)))

    async def count(self, tenant: str, knowledge_base: str) -> int:
        return await self._run(lambda: self._count(tenant, knowledge_base))

    async def optimize(self) -> None:
        await self._run(lambda: [shard.optimize() for shard in list(self._shards.values())])

    async def close(self) -> None:
        await self._run(self._close)
        self._pool.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except (OSError, ValueError, RuntimeError) as error:
            raise DependencyError(f"the embedded Qdrant store failed: {error}") from error

    def _upsert(self, chunks: Sequence[StoredChunk]) -> None:
        for path, group in self._by_shard(chunks).items():
            shard = self._shard(path, create=True)
            if shard is not None:
                shard.update(UpdateOperation.upsert_points([_point(stored) for stored in group]))
                shard.flush()

    def _by_shard(self, chunks: Sequence[StoredChunk]) -> dict[Path, list[StoredChunk]]:
        groups: dict[Path, list[StoredChunk]] = {}
        for stored in chunks:
            groups.setdefault(self._path(stored.tenant, stored.knowledge_base), []).append(stored)
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
        shard = self._shard(self._path(scope.tenant, knowledge_base))
        if shard is None:
            return []
        condition = scope_filter(scope, knowledge_base, filters)
        dense, sparse = _arms(shard, query, limit, condition, exact=exact)
        ids = list({**dense, **sparse})
        dense_scores, sparse_scores = self._complete(shard, query, dense, sparse)
        records = shard.retrieve(ids, with_payload=True, with_vector=False)
        return [
            Hit(
                to_chunk(str(record.id), record.payload or {}),
                dense_scores.get(str(record.id), 0.0),
                sparse_scores.get(str(record.id), 0.0),
            )
            for record in records
        ]

    def _complete(
        self,
        shard: EdgeShard,
        query: QueryVectors,
        dense: dict[str, float],
        sparse: dict[str, float],
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Both arms' scores for every hit of either arm."""
        only_sparse = Filter(must=[HasIdCondition(set(sparse.keys() - dense.keys()))])
        only_dense = Filter(must=[HasIdCondition(set(dense.keys() - sparse.keys()))])
        more_dense, more_sparse = shard.query_batch(
            QueryBatchRequest(
                [
                    _dense(query, len(sparse) + 1, only_sparse),
                    _sparse(query, len(dense) + 1, only_dense),
                ]
            )
        )
        return {**dense, **_scores(more_dense)}, {**sparse, **_scores(more_sparse)}

    def _score(
        self, scope: Scope, knowledge_base: str, query: QueryVectors, ids: list[str]
    ) -> dict[str, tuple[float, float]]:
        shard = self._shard(self._path(scope.tenant, knowledge_base))
        if shard is None:
            return {}
        condition = scope_filter(scope, knowledge_base, Filters())
        condition = Filter(must=[*(condition.must or []), HasIdCondition(set(ids))])
        dense, sparse = _arms(shard, query, len(ids), condition)
        return {key: (score, sparse.get(key, 0.0)) for key, score in dense.items()}

    def _update(self, tenant: str, knowledge_base: str, operation: UpdateOperation) -> None:
        shard = self._shard(self._path(tenant, knowledge_base))
        if shard is not None:
            shard.update(operation)
            shard.flush()

    def _count(self, tenant: str, knowledge_base: str) -> int:
        shard = self._shard(self._path(tenant, knowledge_base))
        return shard.count(CountRequest(exact=True)) if shard is not None else 0

    def _drop(self, path: Path) -> None:
        with self._opening:
            shard = self._shards.pop(path, None)
            if shard is not None:
                shard.close()
            shutil.rmtree(path, ignore_errors=True)

    def _close(self) -> None:
        with self._opening:
            while self._shards:
                self._shards.popitem()[1].close()

    def _path(self, tenant: str, knowledge_base: str) -> Path:
        return self._folder / uuid.uuid5(ID_SPACE, f"{tenant}\x00{knowledge_base}").hex

    def _shard(self, path: Path, *, create: bool = False) -> EdgeShard | None:
        shard = self._shards.get(path)
        if shard is not None:
            return shard
        with self._opening:
            if path not in self._shards:
                if (path / "edge_config.json").exists() or any(path.glob("*")):
                    self._shards[path] = EdgeShard.load(str(path))
                elif create:
                    self._shards[path] = self._create(path)
            return self._shards.get(path)

    def _create(self, path: Path) -> EdgeShard:
        path.mkdir(parents=True, exist_ok=True)
        shard = EdgeShard.create(
            str(path),
            EdgeConfig(
                vectors={"dense": EdgeVectorParams(self._dimension, Distance.Cosine)},
                sparse_vectors={"bm25": EdgeSparseVectorParams(modifier=Modifier.Idf)},
            ),
        )
        for key in INDEXED:
            shard.update(UpdateOperation.create_field_index(key, PayloadSchemaType.Keyword))
        shard.flush()
        return shard


def _point(stored: StoredChunk) -> Point:
    sparse = EdgeSparse(stored.sparse.indices, stored.sparse.values)
    vectors = {"dense": stored.dense.tolist(), "bm25": sparse}
    return Point(stored.chunk.chunk_id, vectors, to_payload(stored))


def _arms(
    shard: EdgeShard, query: QueryVectors, limit: int, condition: Filter, *, exact: bool = False
) -> tuple[dict[str, float], dict[str, float]]:
    dense, sparse = shard.query_batch(
        QueryBatchRequest(
            [_dense(query, limit, condition, exact=exact), _sparse(query, limit, condition)]
        )
    )
    return _scores(dense), _scores(sparse)


def _dense(
    query: QueryVectors, limit: int, condition: Filter, *, exact: bool = False
) -> QueryRequest:
    vector = np.asarray(query.dense).tolist()
    params = SearchParams(exact=True) if exact else None
    nearest = Query.Nearest(vector, using="dense")
    return QueryRequest(limit=limit, query=nearest, filter=condition, params=params)


def _sparse(query: QueryVectors, limit: int, condition: Filter) -> QueryRequest:
    vector = EdgeSparse(query.sparse.indices, query.sparse.values)
    return QueryRequest(
        limit=limit, query=Query.Nearest(vector, using="bm25"), filter=condition
    )


def _scores(points: Sequence[ScoredPoint]) -> dict[str, float]:
    return {str(point.id): point.score for point in points}
