"""A Qdrant server or cluster as the chunk store: one collection per knowledge base."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from qdrant_client import AsyncQdrantClient, models

from ingest.adapters.qdrant_calls import MissingCollection, QdrantCalls
from ingest.adapters.qdrant_collections import QdrantCollections
from ingest.adapters.qdrant_points import chunks_of, point_of, scores_of, stored_of
from ingest.adapters.qdrant_queries import (
    dense_query,
    document_filter,
    named,
    revision_filter,
    scope_filter,
    sparse_query,
)
from ingest.errors import DependencyTimeout
from ingest.filters import Filters
from ingest.ports import Encoders, Hit, QueryVectors, StoredChunk
from ingest.scope import Scope
from ingest.settings import QdrantSettings

T = TypeVar("T")

BATCH = 256
"""Chunks in a request: about 3 MB, a tenth of what a server takes."""

CONNECTIONS = httpx.Limits(max_connections=64, max_keepalive_connections=16)
"""More searches at once wait here; the client's own default keeps none open to this machine."""


def connect(settings: QdrantSettings) -> AsyncQdrantClient:
    """A client of the server; sends nothing yet."""
    key = settings.api_key
    # As a header: the parameter warns on standard error of every http:// address, `crag doctor`
    # only of those of other machines.
    headers = {"api-key": key.get_secret_value()} if key else {}
    address = urlsplit(settings.url or "")
    return AsyncQdrantClient(
        url=settings.url,
        port=address.port or (443 if address.scheme == "https" else 6333),
        grpc_port=settings.grpc_port,
        prefer_grpc=settings.prefer_grpc,
        # Only a backstop: QdrantCalls ends a call first.
        timeout=int(settings.timeout_s) + 2,
        headers=headers,
        limits=CONNECTIONS,
        check_compatibility=False,  # a thread of its own and a warning; `crag doctor` asks
    )


class QdrantServerStore:
    """A ChunkStore on a server. Reading a base that has no collection finds nothing."""

    def __init__(
        self,
        client: AsyncQdrantClient,
        settings: QdrantSettings,
        encoders: Encoders,
        *,
        draft: bool = False,
    ) -> None:
        self._client = client
        self._calls = QdrantCalls(
            settings.url or "memory", timeout_s=settings.timeout_s, retries=settings.retries
        )
        self._collections = QdrantCollections(client, self._calls, settings, encoders, draft=draft)

    async def check(self, tenant: str, knowledge_bases: Sequence[str]) -> None:
        for base in knowledge_bases:
            await self._collections.exists(self._collections.alias(tenant, base))

    async def upsert(self, chunks: Sequence[StoredChunk]) -> None:
        groups: dict[str, list[models.PointStruct]] = {}
        for stored in chunks:
            alias = self._collections.alias(stored.tenant, stored.knowledge_base)
            groups.setdefault(alias, []).append(point_of(stored))
        for alias, points in groups.items():
            await self._collections.ensure(alias)
            for start in range(0, len(points), BATCH):
                await self._write(alias, points[start : start + BATCH])

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
        alias = self._collections.alias(scope.tenant, knowledge_base)
        condition = scope_filter(scope, knowledge_base, filters)
        asked = [
            dense_query(query, limit, condition, exact=exact, payload=True),
            sparse_query(query, limit, condition, payload=True),
        ]
        dense, sparse = await self._arms(alias, query, asked)
        chunks = {**chunks_of(sparse), **chunks_of(dense)}
        dense_scores, sparse_scores = scores_of(dense), scores_of(sparse)
        only_sparse = sparse_scores.keys() - dense_scores.keys()
        only_dense = dense_scores.keys() - sparse_scores.keys()
        if only_sparse or (only_dense and query.sparse.indices):
            more = [
                dense_query(query, len(only_sparse) + 1, named(only_sparse)),
                sparse_query(query, len(only_dense) + 1, named(only_dense)),
            ]
            more_dense, more_sparse = await self._arms(alias, query, more)
            dense_scores |= scores_of(more_dense)
            sparse_scores |= scores_of(more_sparse)
        return [
            Hit(chunk, dense_scores[key], sparse_scores.get(key, 0.0))
            for key, chunk in chunks.items()
            if key in dense_scores  # else it was deleted between the two questions
        ]

    async def score(
        self, scope: Scope, knowledge_base: str, query: QueryVectors, chunk_ids: Sequence[str]
    ) -> dict[str, tuple[float, float]]:
        if not chunk_ids:
            return {}
        alias = self._collections.alias(scope.tenant, knowledge_base)
        condition = scope_filter(scope, knowledge_base, Filters(), chunk_ids)
        limit = len(chunk_ids)
        asked = [dense_query(query, limit, condition), sparse_query(query, limit, condition)]
        dense, sparse = await self._arms(alias, query, asked)
        bm25 = scores_of(sparse)
        return {key: (score, bm25.get(key, 0.0)) for key, score in scores_of(dense).items()}

    async def read_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> list[StoredChunk]:
        alias = self._collections.alias(tenant, knowledge_base)
        found = await self._scroll(alias, revision_filter(document_id, revision), whole=True)
        return sorted(map(stored_of, found), key=lambda stored: stored.chunk.ordinal)

    async def set_acl(
        self, tenant: str, knowledge_base: str, document_id: str, acl: Sequence[str]
    ) -> None:
        alias, payload = self._collections.alias(tenant, knowledge_base), {"acl": list(acl)}
        chunks = document_filter(document_id)
        done = await self._read(
            alias, lambda: self._client.set_payload(alias, payload, points=chunks, wait=True)
        )
        _applied(*([done] if done else []))

    async def delete_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None:
        """Terms first: the engine goes on counting those of a deleted point."""
        alias = self._collections.alias(tenant, knowledge_base)
        condition = revision_filter(document_id, revision)
        gone = [str(record.id) for record in await self._scroll(alias, condition)]
        for start in range(0, len(gone), BATCH):
            await self._delete(alias, gone[start : start + BATCH])

    async def delete_knowledge_base(self, tenant: str, knowledge_base: str) -> None:
        await self._collections.drop(self._collections.alias(tenant, knowledge_base))

    async def count(self, tenant: str, knowledge_base: str) -> int:
        alias = self._collections.alias(tenant, knowledge_base)
        result = await self._read(alias, lambda: self._client.count(alias, exact=True))
        return result.count if result else 0

    async def optimize(self) -> None:
        """Nothing to ask for: a server optimizes by itself."""

    async def close(self) -> None:
        await self._client.close()

    async def _arms(
        self, alias: str, query: QueryVectors, asked: list[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        """Points of the dense and of the sparse request; no terms, no sparse points."""
        sent = asked if query.sparse.indices else asked[:1]
        answers = await self._read(alias, lambda: self._client.query_batch_points(alias, sent))
        found = [answer.points for answer in answers or []]
        return [*found, *([[]] * (len(asked) - len(found)))]

    async def _scroll(
        self, alias: str, condition: models.Filter, *, whole: bool = False
    ) -> list[models.Record]:
        found: list[models.Record] = []
        page: Any = None
        while True:
            records, page = await self._page(alias, condition, page, whole)
            found += records
            if page is None:
                return found

    async def _page(
        self, alias: str, condition: models.Filter, page: Any, whole: bool
    ) -> tuple[list[models.Record], Any]:
        answer = await self._read(
            alias,
            lambda: self._client.scroll(
                alias,
                scroll_filter=condition,
                limit=BATCH,
                offset=page,
                with_payload=whole,
                with_vectors=whole,
            ),
        )
        return answer or ([], None)

    async def _delete(self, alias: str, points: list[str]) -> None:
        bare: Any = {"bm25": models.SparseVector(indices=[], values=[])}
        vectors = [models.PointVectors(id=point, vector=bare) for point in points]
        steps: list[models.UpdateOperation] = [
            models.UpdateVectorsOperation(update_vectors=models.UpdateVectors(points=vectors)),
            models.DeleteOperation(delete=models.PointIdsList(points=[*points])),
        ]
        done = await self._read(
            alias, lambda: self._client.batch_update_points(alias, steps, wait=True)
        )
        _applied(*(done or []))

    async def _read(self, alias: str, call: Callable[[], Awaitable[T]]) -> T | None:
        """None where the base has no collection."""
        if not await self._collections.exists(alias):
            return None
        try:
            return await self._calls(call)
        except MissingCollection:
            self._collections.forget(alias)
            return None

    async def _write(self, alias: str, points: list[models.PointStruct]) -> None:
        async def write() -> None:
            _applied(await self._calls(lambda: self._client.upsert(alias, points, wait=True)))

        try:
            await write()
        except MissingCollection:  # another process dropped the base
            self._collections.forget(alias)
            await self._collections.ensure(alias)
            await write()


def _applied(*updates: models.UpdateResult) -> None:
    """Raises DependencyTimeout: a server that gives up waiting says so in a successful answer."""
    if any(update.status != models.UpdateStatus.COMPLETED for update in updates):
        raise DependencyTimeout("Qdrant has taken a write and not applied it in time")
