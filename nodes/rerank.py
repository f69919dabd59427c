"""Orders the candidates by the original question: a rewrite may have dropped a constraint."""

from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.ports import Reranker
from nodes.state import State, Update


async def rerank(state: State, runtime: Runtime[Context], *, reranker: Reranker) -> Update:
    """Candidates in the reranker's order; in the order of retrieval where it fails."""
    ordered, faults = await or_fallback(
        reranker.rerank(state.standalone, state.candidates),
        state.candidates,
        node="rerank",
        fallback="order of retrieval",
    )
    known = {candidate.chunk.chunk_id for candidate in state.candidates}
    ordered = [candidate for candidate in ordered if candidate.chunk.chunk_id in known]
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
