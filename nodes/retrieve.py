"""Searches with this loop's queries; the original question stays an arm of every search."""

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from ingest.filters import Filters
from nodes.candidates import checked_candidates
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.ports import Retriever
from nodes.state import State, Update

WIDER = 2
"""How many times more candidates the widened loop asks for."""


async def retrieve(state: State, runtime: Runtime[Context], *, index: Retriever) -> Update:
    """Candidates, best first. When the search cannot run, the run fails closed."""
    context = runtime.context or DEFAULTS
    loop = state.spent.rewrites
    queries = list(dict.fromkeys(q.text for q in state.queries if q.loop in (0, loop)))
    found, faults = await or_fallback(
        _found(index, state, context, queries),
        None,
        node="retrieve",
        fallback="declined",
    )
    if found is None:
        failed = "the search could not run"
        return {
            "failed": failed,
            "degraded": [*state.degraded, *faults],
            "summary": {"error": failed},
        }
    seen = list(dict.fromkeys([*state.candidates_seen, *(c.chunk.chunk_id for c in found)]))
    return {"candidates": found, "candidates_seen": seen, "summary": _summary(queries, found)}


async def _found(
    index: Retriever, state: State, context: Context, queries: list[str]
) -> list[Candidate]:
    found = await index.search(
        context.scope,
        state.knowledge_base,
        state.standalone,
        queries,
        limit=context.candidates * (WIDER if state.wide else 1),
        filters=state.filters if state.wide else narrowed(state),
        fusion=context.fusion,
        exact=context.exact,
    )
    return checked_candidates(found)


def narrowed(state: State) -> Filters:
    """What was given, and what the question led to."""
    return state.filters + state.derived_filters + state.question_filters


def _summary(queries: list[str], found: list[Candidate]) -> dict[str, object]:
    top = [{"title": c.chunk.title, "heading": c.chunk.heading, **_rounded(c)} for c in found[:5]]
    return {"queries": queries, "candidates": len(found), "top": top}


def _rounded(candidate: Candidate) -> dict[str, float]:
    return {name: round(score, 4) for name, score in candidate.scores.items()}
