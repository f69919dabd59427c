"""Retrieval without an answer: what a question finds, with the scores of each stage."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from graph.compose import Service
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.scope import Scope
from nodes.fallback import or_fallback


async def search(
    service: Service,
    scope: Scope,
    knowledge_base: str,
    question: str,
    *,
    limit: int,
    filters: Filters,
) -> dict[str, Any]:
    """The best `limit` passages, best first, and milliseconds by stage.

    Nothing is left out that filters admit: a superseded document is shown with its status, where
    a run would set it aside. Raises UnknownKnowledgeBase and DependencyError.
    """
    settings = service.settings.retrieve
    index = service.corpus.index
    started = time.perf_counter()
    found = await index.search(
        scope,
        knowledge_base,
        question,
        [question],
        limit=settings.candidates,
        filters=filters,
        fusion=settings.fusion,
        exact=settings.exact,
    )
    retrieved = time.perf_counter()
    ordered, degraded = await or_fallback(
        service.services.reranker.rerank(question, found),
        found,
        node="rerank",
        fallback="order of retrieval",
    )
    done = time.perf_counter()
    return {
        "question": question,
        "knowledge_base": knowledge_base,
        "candidates": len(found),
        "results": _shown(ordered[:limit]),
        "degraded": [asdict(fault) for fault in degraded],
        "timings": {
            "retrieve_ms": round(1000 * (retrieved - started), 3),
            "rerank_ms": round(1000 * (done - retrieved), 3),
        },
        "versions": {"index": await index.version(scope, knowledge_base)},
    }


def _shown(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    return [
        {
            "rank": rank,
            "chunk_id": c.chunk.chunk_id,
            "document_id": c.chunk.document_id,
            "revision": c.chunk.revision,
            "source": c.chunk.metadata.get("source", ""),
            "status": c.chunk.metadata.get("status", ""),
            "title": c.chunk.title,
            "heading": c.chunk.heading,
            "page": c.chunk.page,
            "start": c.chunk.start,
            "end": c.chunk.end,
            "text": c.chunk.text,
            "scores": {name: round(float(score), 4) for name, score in c.scores.items()},
        }
        for rank, c in enumerate(candidates, start=1)
    ]
