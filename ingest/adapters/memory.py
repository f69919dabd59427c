"""The ChunkStore contract in plain lists: exact, for tests and small evaluations."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ingest.filters import Filters
from ingest.fusion import best_first
from ingest.ports import Hit, QueryVectors, SparseVector, StoredChunk
from ingest.scope import Scope


class MemoryStore:
    """Keeps every chunk in a dict; scores all of them on every search."""

    def __init__(self) -> None:
        self._chunks: dict[str, StoredChunk] = {}

    async def check(self, tenant: str, knowledge_bases: Sequence[str]) -> None:
        """Holds what it was given in this process, by one embedder."""

    async def upsert(self, chunks: Sequence[StoredChunk]) -> None:
        self._chunks |= {stored.chunk.chunk_id: stored for stored in chunks}

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
        seen = {
            key: stored
            for key, stored in self._visible(scope, knowledge_base).items()
            if filters.admit(stored.chunk)
        }
        dense, bm25 = self._scores(knowledge_base, scope.tenant, query, seen)
        matching = {key: score for key, score in bm25.items() if score > 0}
        found = dict.fromkeys([*best_first(dense)[:limit], *best_first(matching)[:limit]])
        return [Hit(seen[key].chunk, dense[key], bm25[key]) for key in found]

    async def score(
        self, scope: Scope, knowledge_base: str, query: QueryVectors, chunk_ids: Sequence[str]
    ) -> dict[str, tuple[float, float]]:
        visible = self._visible(scope, knowledge_base)
        named = {key: visible[key] for key in chunk_ids if key in visible}
        dense, bm25 = self._scores(knowledge_base, scope.tenant, query, named)
        return {key: (dense[key], bm25[key]) for key in named}

    async def read_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> list[StoredChunk]:
        found = [
            stored
            for stored in self._base(tenant, knowledge_base).values()
            if (stored.chunk.document_id, stored.chunk.revision) == (document_id, revision)
        ]
        return sorted(found, key=lambda stored: stored.chunk.ordinal)

    async def set_acl(
        self, tenant: str, knowledge_base: str, document_id: str, acl: Sequence[str]
    ) -> None:
        for key, stored in self._base(tenant, knowledge_base).items():
            if stored.chunk.document_id == document_id:
                self._chunks[key] = replace(stored, acl=list(acl))

    async def delete_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None:
        for key, stored in self._base(tenant, knowledge_base).items():
            if (stored.chunk.document_id, stored.chunk.revision) == (document_id, revision):
                del self._chunks[key]

    async def delete_knowledge_base(self, tenant: str, knowledge_base: str) -> None:
        for key in self._base(tenant, knowledge_base):
            del self._chunks[key]

    async def count(self, tenant: str, knowledge_base: str) -> int:
        return len(self._base(tenant, knowledge_base))

    async def optimize(self) -> None:
        """Nothing to build: every search is exact."""

    async def close(self) -> None:
        self._chunks.clear()

    def _base(self, tenant: str, knowledge_base: str) -> dict[str, StoredChunk]:
        place = (tenant, knowledge_base)
        return {k: s for k, s in self._chunks.items() if (s.tenant, s.knowledge_base) == place}

    def _visible(self, scope: Scope, knowledge_base: str) -> dict[str, StoredChunk]:
        readable = set(scope.readable_acl)
        base = self._base(scope.tenant, knowledge_base)
        return {key: stored for key, stored in base.items() if readable & set(stored.acl)}

    def _scores(
        self, knowledge_base: str, tenant: str, query: QueryVectors, chunks: dict[str, StoredChunk]
    ) -> tuple[dict[str, float], dict[str, float]]:
        idf = _idf([s.sparse for s in self._base(tenant, knowledge_base).values()])
        dense = {key: float(np.dot(s.dense, query.dense)) for key, s in chunks.items()}
        bm25 = {key: _sparse_score(query.sparse, s.sparse, idf) for key, s in chunks.items()}
        return dense, bm25


def _idf(vectors: Sequence[SparseVector]) -> dict[int, float]:
    frequency: dict[int, int] = {}
    for vector in vectors:
        for index in vector.indices:
            frequency[index] = frequency.get(index, 0) + 1
    n = len(vectors)
    return {i: float(np.log((n - df + 0.5) / (df + 0.5) + 1)) for i, df in frequency.items()}


def _sparse_score(query: SparseVector, document: SparseVector, idf: dict[int, float]) -> float:
    weights = dict(zip(document.indices, document.values, strict=True))
    pairs = zip(query.indices, query.values, strict=True)
    return sum(value * weights.get(i, 0.0) * idf.get(i, 0.0) for i, value in pairs)
