"""Orders the candidates by the original question: a rewrite may have dropped a constraint."""

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.ports import Reranker
from nodes.state import State, Update


async def rerank(state: State, runtime: Runtime[Context], *, reranker: Reranker) -> Update:
    """Candidates in the reranker's order; in the order of retrieval where it fails."""
    ordered, faults = await or_fallback(
        _reranked(reranker, state.standalone, state.candidates),
        state.candidates,
        node="rerank",
        fallback="order of retrieval",
    )
    top = [
        {
            "chunk_id": c.chunk.chunk_id,
            "title": c.chunk.title,
            "heading": c.chunk.heading,
            "rerank": round(c.scores.get("rerank", c.scores.get("fused", 0.0)), 4),
        }
        for c in ordered[:5]
    ]
    return {
        "candidates": ordered,
        "degraded": [*state.degraded, *faults],
        "summary": {"candidates": len(ordered), "top": top},
    }


async def _reranked(
    reranker: Reranker, question: str, candidates: list[Candidate]
) -> list[Candidate]:
    """Each candidate once and no other; what the reranker left out comes last."""
    before = {candidate.chunk.chunk_id: candidate for candidate in candidates}
    ordered = await reranker.rerank(question, candidates)
    after = {c.chunk.chunk_id: c for c in ordered if c.chunk.chunk_id in before}
    return list((after | {key: c for key, c in before.items() if key not in after}).values())
