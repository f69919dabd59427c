"""Searches with this loop's queries; the original question stays an arm of every search."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.fusion import best_first, blend
from nodes.bases import routed_to
from nodes.candidates import checked_candidates
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.ports import Retriever
from nodes.state import State, Update

ARMS = 2
WIDER = 2
"""How many times more candidates the widened loop asks for."""


async def retrieve(state: State, runtime: Runtime[Context], *, index: Retriever) -> Update:
    """Candidates, best first. When the search cannot run, the run fails closed."""
    context = runtime.context or DEFAULTS
    loop = state.spent.rewrites
    asked = [q for q in state.queries if q.loop in (0, loop)]
    queries = list(dict.fromkeys(q.text for q in asked))
    found, faults = await or_fallback(
        _found(index, state, context, queries, [q.embedded for q in asked if q.embedded]),
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
    return {
        "candidates": found,
        "candidates_seen": seen,
        "summary": _summary(queries, found, context),
    }


async def _found(
    index: Retriever, state: State, context: Context, queries: list[str], made_up: list[str]
) -> list[Candidate]:
    limit = context.candidates * (WIDER if state.wide else 1)
    return await searched(
        index, state, context, state.standalone, queries, limit=limit, made_up=made_up
    )


async def searched(
    index: Retriever,
    state: State,
    context: Context,
    question: str,
    queries: Sequence[str],
    *,
    limit: int,
    made_up: Sequence[str] = (),
) -> list[Candidate]:
    """What these queries find where the run searches now. Of several bases all are searched at
    once, and their candidates ordered anew: a base's own order is stretched to its best."""
    searches = [
        index.search(
            context.scope,
            base,
            question,
            queries,
            limit=limit,
            filters=state.filters if state.wide else narrowed(state),
            fusion=context.fusion,
            exact=context.exact,
            merge=context.merge,
            made_up=made_up,
        )
        for base in routed_to(state)
    ]
    found = [checked_candidates(one) for one in await asyncio.gather(*searches)]
    return found[0] if len(found) == 1 else together(found, ARMS * limit)


def together(found: Sequence[Sequence[Candidate]], limit: int) -> list[Candidate]:
    """The best `limit` over all bases, by an even blend of the arms' scores against the question.

    A BM25 score leans on how rare a word is in its own base: it compares across bases in part.
    """
    candidates = {c.chunk.chunk_id: c for one in found for c in one}
    arms = [
        (1.0, {key: c.scores.get(arm, 0.0) for key, c in candidates.items()})
        for arm in ("dense", "bm25")
    ]
    fused = blend(arms)
    return [
        replace(candidates[key], scores={**candidates[key].scores, "fused": fused[key]})
        for key in best_first(fused)[:limit]
    ]


def narrowed(state: State) -> Filters:
    """What was given, and what the question led to."""
    return state.filters + state.derived_filters + state.question_filters


def _summary(queries: list[str], found: list[Candidate], context: Context) -> dict[str, object]:
    how: dict[str, object] = {"fusion": context.fusion, "merge": context.merge}
    top = [{"title": c.chunk.title, "heading": c.chunk.heading, **_rounded(c)} for c in found[:5]]
    return {"queries": queries, **how, "candidates": len(found), "top": top}


def _rounded(candidate: Candidate) -> dict[str, float]:
    return {name: round(score, 4) for name, score in candidate.scores.items()}
