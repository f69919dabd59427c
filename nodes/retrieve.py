"""Searches with this loop's queries; the original question stays an arm of every search."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.fusion import best_first, blend
from nodes.bases import routed_to
from nodes.candidates import checked_candidates
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.ports import Documents, Retriever
from nodes.sources import REST, sources_of
from nodes.state import Degraded, State, Update

ARMS = 2
WIDER = 2
"""How many times more candidates the widened loop asks for."""

Sources = Mapping[str, Mapping[str, Filters]]
"""Of each base with several, what limits a search to each of its sources."""
NO_SOURCES: Sources = {}


async def retrieve(
    state: State,
    runtime: Runtime[Context],
    *,
    index: Retriever,
    documents: Documents | None = None,
) -> Update:
    """Candidates, best first. When the search cannot run, the run fails closed; where the sources
    of a base cannot be told, it is searched as one."""
    context = runtime.context or DEFAULTS
    loop = state.spent.rewrites
    asked = [q for q in state.queries if q.loop in (0, loop)]
    queries = list(dict.fromkeys(q.text for q in asked))
    made_up = [q.embedded for q in asked if q.embedded]
    limit = context.candidates * (WIDER if state.wide else 1)
    sources, unknown = await _sources(documents, state, context)
    found, faults = await or_fallback(
        searched(
            index, state, context, state.standalone, queries,
            limit=limit, made_up=made_up, sources=sources,
        ),
        None,
        node="retrieve",
        fallback="declined",
    )  # fmt: skip
    if found is None:
        failed = "the search could not run"
        return {
            "failed": failed,
            "degraded": [*state.degraded, *unknown, *faults],
            "summary": {"error": failed},
        }
    seen = list(dict.fromkeys([*state.candidates_seen, *(c.chunk.chunk_id for c in found)]))
    return {
        "candidates": found,
        "candidates_seen": seen,
        **({"degraded": [*state.degraded, *unknown]} if unknown else {}),
        "summary": _summary(queries, found, context) | _by_source(found, sources),
    }


async def searched(
    index: Retriever,
    state: State,
    context: Context,
    question: str,
    queries: Sequence[str],
    *,
    limit: int,
    made_up: Sequence[str] = (),
    sources: Sources = NO_SOURCES,
) -> list[Candidate]:
    """What these queries find where the run searches now. Several bases, and the `sources` of a
    base, are searched at once, and their candidates ordered anew: the order of each is stretched to
    its own best. Each source has a budget of its own, however much of another is nearer."""
    budget = (context.source_candidates or limit) * (WIDER if state.wide else 1)
    places: list[tuple[str, Filters, int]] = []
    for base in routed_to(state):
        places += [(base, only, budget) for only in sources.get(base, {}).values()] or [
            (base, Filters(), limit)
        ]
    searches = [
        index.search(
            context.scope,
            base,
            question,
            queries,
            limit=most,
            filters=(state.filters if state.wide else narrowed(state)) + only,
            fusion=context.fusion,
            exact=context.exact,
            merge=context.merge,
            made_up=made_up,
        )
        for base, only, most in places
    ]
    found = [checked_candidates(one) for one in await asyncio.gather(*searches)]
    if len(found) == 1:
        return found[0]
    return together(found, ARMS * (sum(most for _, _, most in places) if sources else limit))


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


async def _sources(
    documents: Documents | None, state: State, context: Context
) -> tuple[Sources, list[Degraded]]:
    if documents is None or context.source_candidates is None:
        return NO_SOURCES, []
    return await or_fallback(
        _told_apart(documents, state, context),
        NO_SOURCES,
        node="retrieve",
        fallback="searched as one source",
    )


async def _told_apart(documents: Documents, state: State, context: Context) -> Sources:
    bases = routed_to(state)
    held = [await documents.documents(context.scope, base) for base in bases]
    each = {base: sources_of(own) for base, own in zip(bases, held, strict=True)}
    return {base: sources for base, sources in each.items() if sources}


def _by_source(found: list[Candidate], sources: Sources) -> dict[str, object]:
    """How many candidates each source gave, where they were searched apart."""
    if not sources:
        return {}
    of = {
        document: name
        for own in sources.values()
        for name, only in own.items()
        for document in only.conditions[0].values
    }
    counts = Counter(of.get(c.chunk.document_id, REST) for c in found)
    return {"sources": dict(counts.most_common())}


def _summary(queries: list[str], found: list[Candidate], context: Context) -> dict[str, object]:
    how: dict[str, object] = {"fusion": context.fusion, "merge": context.merge}
    top = [{"title": c.chunk.title, "heading": c.chunk.heading, **_rounded(c)} for c in found[:5]]
    return {"queries": queries, **how, "candidates": len(found), "top": top}


def _rounded(candidate: Candidate) -> dict[str, float]:
    return {name: round(score, 4) for name, score in candidate.scores.items()}
