"""The index of a tenant's knowledge bases: one place to search, read and write them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ingest.access import LiveAccess
from ingest.documents import Candidate
from ingest.errors import DependencyError, NotFound
from ingest.filters import Filters
from ingest.fusion import Fusion, Merge, best_first, blend, min_max, rrf
from ingest.live import LiveBase, LiveBases
from ingest.ports import ChunkStore, DocumentRecord, Embedder, Hit, QueryVectors, SparseEncoder
from ingest.scope import Scope

MAX_OVERFETCH = 8
"""How many times the limit is asked for, at most, to make up for hits that no longer count."""

ATTEMPTS = 4
"""Searches at most, when documents change in between: the old chunks may be gone already, and the
new ones are not live in what was read before."""


class Index:
    """Search over live documents. Raises UnknownKnowledgeBase and DependencyError."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        sparse: SparseEncoder,
        store: ChunkStore,
        bases: LiveBases,
        access: LiveAccess | None = None,
        dense_weight: float = 0.5,
    ) -> None:
        self._embedder = embedder
        self._sparse = sparse
        self._store = store
        self._bases = bases
        self._access = access
        self._dense_weight = dense_weight

    async def search(
        self,
        scope: Scope,
        knowledge_base: str,
        question: str,
        queries: Sequence[str],
        *,
        limit: int,
        filters: Filters,
        fusion: Fusion = "blend",
        exact: bool = False,
        merge: Merge = "best",
        made_up: Sequence[str] = (),
    ) -> list[Candidate]:
        """Candidates of all queries, best first; each arm of each query gives up to `limit`.

        Each passage that is `made_up` is one more query: its vector, and the question's words.
        `dense` and `bm25` are scores against `question`, whichever query found the candidate.
        """
        live = await self._bases.base(scope, knowledge_base)
        asked = list(dict.fromkeys([question, *queries]))
        vectors = dict(zip(asked, await self._vectors(asked), strict=True))
        passages = await self._embedder.embed(list(made_up))
        arms = [(query, vectors[query]) for query in queries]
        words = vectors[question].sparse
        arms += [(question, QueryVectors(dense, words)) for dense in passages]
        plain = None if list(queries) == [question] and not made_up else vectors[question]
        for _ in range(ATTEMPTS):
            found = await self._found(
                scope, live, arms, plain, limit, filters, fusion, exact, merge
            )
            before, live = live, await self._bases.base(scope, knowledge_base)
            if live.changes == before.changes:
                break
        shown = {c.chunk.document_id for c in found}
        readable = await self._readable(scope, live, shown)
        mine = [c for c in found if c.chunk.document_id in readable]
        return [replace(c, knowledge_base=live.name) for c in mine]

    async def _readable(self, scope: Scope, live: LiveBase, document_ids: set[str]) -> set[str]:
        """Those that the source system lets this scope read, where one is asked."""
        if self._access is None:
            return document_ids
        named = [live.documents[key] for key in document_ids if key in live.documents]
        return await self._access.readable(scope, named)

    async def _found(
        self,
        scope: Scope,
        live: LiveBase,
        arms: Sequence[tuple[str, QueryVectors]],
        plain: QueryVectors | None,
        limit: int,
        filters: Filters,
        fusion: Fusion,
        exact: bool,
        merge: Merge,
    ) -> list[Candidate]:
        """With the scores against the `plain` question, where other arms found something, too."""
        found = await asyncio.gather(
            *(self._live_hits(scope, live, arm, limit, filters, exact) for _, arm in arms)
        )
        if not any(found) and await self._is_lost(scope, live):
            raise DependencyError(f"the passages of {live.name} are gone; ingest its folder again")
        merged = _merged(
            [
                _fused(query, hits, fusion, self._dense_weight, limit)
                for (query, _), hits in zip(arms, found, strict=True)
            ],
            merge,
        )
        if plain is not None:
            merged = await self._against(scope, live.name, plain, merged)
        order = best_first({key: c.scores["fused"] for key, c in merged.items()})
        return [merged[key] for key in order]

    async def _is_lost(self, scope: Scope, live: LiveBase) -> bool:
        """Whether there are documents and not one of their passages."""
        wanted = any(document.chunks for document in live.documents.values())
        return wanted and not await self._store.count(scope.tenant, live.name)

    async def documents(self, scope: Scope, knowledge_base: str) -> list[DocumentRecord]:
        """Live documents that this scope may read, by source."""
        return (await self._bases.base(scope, knowledge_base)).visible(scope)

    async def document(self, scope: Scope, knowledge_base: str, document_id: str) -> DocumentRecord:
        """Raises NotFound for an unknown document and for a forbidden one alike."""
        live = await self._bases.base(scope, knowledge_base)
        found = [d for d in live.visible(scope) if d.document_id == document_id]
        if not found or not await self._shows(scope, live, document_id):
            raise NotFound("no such document")
        return found[0]

    async def text(
        self, scope: Scope, knowledge_base: str, document_id: str, revision: str
    ) -> str | None:
        """The stored text of a live revision, or None where it answers this scope no longer."""
        live = await self._bases.base(scope, knowledge_base)
        visible = any(d.document_id == document_id for d in live.visible(scope))
        if not visible or not await self._shows(scope, live, document_id):
            return None
        return await self._bases.text(scope, knowledge_base, document_id, revision)

    async def _shows(self, scope: Scope, live: LiveBase, document_id: str) -> bool:
        return scope.manages or document_id in await self._readable(scope, live, {document_id})

    async def version(self, scope: Scope, knowledge_base: str) -> str:
        """Changes with every change of what the base would answer from; the same content and
        pipeline give the same version anywhere."""
        return (await self._bases.base(scope, knowledge_base)).version

    async def _vectors(self, texts: list[str]) -> list[QueryVectors]:
        dense = await self._embedder.embed(texts, role="question")
        return [
            QueryVectors(row, self._sparse.query(text))
            for row, text in zip(dense, texts, strict=True)
        ]

    async def _live_hits(
        self,
        scope: Scope,
        live: LiveBase,
        query: QueryVectors,
        limit: int,
        filters: Filters,
        exact: bool,
    ) -> list[Hit]:
        factor = 1
        stored = live.stored(filters)
        while True:
            wanted = limit * factor
            hits = await self._store.search(
                scope, live.name, query, limit=wanted, filters=stored, exact=exact
            )
            seen = [live.seen(scope, hit) for hit in hits]
            admitted = [hit for hit in seen if hit and filters.admit(hit.chunk)]
            if len(admitted) >= limit or len(hits) < wanted or factor >= MAX_OVERFETCH:
                return _arms_best(admitted, limit)
            factor *= 2

    async def _against(
        self, scope: Scope, base: str, question: QueryVectors, candidates: dict[str, Candidate]
    ) -> dict[str, Candidate]:
        scores = await self._store.score(scope, base, question, list(candidates))
        return {
            key: replace(
                candidate,
                scores={**candidate.scores, "dense": scores[key][0], "bm25": scores[key][1]},
            )
            for key, candidate in candidates.items()
            if key in scores
        }


def _arms_best(hits: list[Hit], limit: int) -> list[Hit]:
    """The best `limit` of each arm."""
    by_id = {hit.chunk.chunk_id: hit for hit in hits}
    dense = best_first({key: hit.dense for key, hit in by_id.items()})[:limit]
    bm25 = best_first({key: hit.bm25 for key, hit in by_id.items() if hit.bm25 > 0})[:limit]
    return [by_id[key] for key in dict.fromkeys([*dense, *bm25])]


def _fused(
    query: str, hits: Sequence[Hit], fusion: Fusion, dense_weight: float, limit: int
) -> list[Candidate]:
    dense = {hit.chunk.chunk_id: hit.dense for hit in hits}
    bm25 = {hit.chunk.chunk_id: hit.bm25 for hit in hits}
    if fusion in ("dense", "bm25"):
        scores = dense if fusion == "dense" else {key: s for key, s in bm25.items() if s > 0}
        own = best_first(scores)[:limit]
        fused = min_max({key: scores[key] for key in own})
        hits = [hit for hit in hits if hit.chunk.chunk_id in fused]
    elif fusion == "rrf":
        matching = {key: score for key, score in bm25.items() if score > 0}
        weights = (dense_weight, 1 - dense_weight)
        fused = rrf([best_first(dense), best_first(matching)], weights=weights)
    else:
        fused = blend([(dense_weight, dense), (1 - dense_weight, bm25)])
    return [
        Candidate(
            hit.chunk,
            {"dense": hit.dense, "bm25": hit.bm25, "fused": fused[hit.chunk.chunk_id]},
            [query],
        )
        for hit in hits
    ]


def _merged(found: Sequence[Sequence[Candidate]], merge: Merge) -> dict[str, Candidate]:
    """Each chunk once; the queries that found it are kept."""
    by_chunk: dict[str, list[Candidate]] = {}
    for candidate in chain.from_iterable(found):
        by_chunk.setdefault(candidate.chunk.chunk_id, []).append(candidate)
    return {key: _as_one(own, len(found), merge) for key, own in by_chunk.items()}


def _as_one(own: Sequence[Candidate], arms: int, merge: Merge) -> Candidate:
    best = max(own, key=lambda c: c.scores["fused"])
    votes = sum(c.scores["fused"] for c in own) / arms
    score = best.scores["fused"] if merge == "best" else votes
    queries = list(dict.fromkeys(query for c in own for query in c.queries))
    return replace(best, scores={**best.scores, "fused": score}, queries=queries)
