"""Orders the candidates by the original question: a rewrite may have dropped a constraint."""

from collections.abc import Mapping
from datetime import date
from itertools import chain

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from nodes.candidates import checked_candidates
from nodes.context import DEFAULTS, Context
from nodes.diversify import Diversified, diversified
from nodes.fallback import or_fallback
from nodes.parts import hops_of
from nodes.ports import Reranker
from nodes.state import Degraded, State, Update

OF_RERANKERS = ("late_interaction", "cross_encoder", "chat")
"""The scores that say which reranker read a candidate."""


async def rerank(
    state: State,
    runtime: Runtime[Context],
    *,
    reranker: Reranker,
    by_chat: Mapping[str, Reranker] | None = None,
) -> Update:
    """Candidates in the order of the reranker, or of that `by_chat` which the option names, where
    there is one; in the order of retrieval where it fails, or where the option is off."""
    context = runtime.context or DEFAULTS
    reranker = (by_chat or {}).get(context.chat_rerank, reranker)
    ordered, faults = state.candidates, list[Degraded]()
    if context.rerank:
        asked = [state.standalone, *hops_of(state.queries)]
        ordered, faults = await or_fallback(
            _in_turn(reranker, asked, state.candidates),
            state.candidates,
            node="rerank",
            fallback="order of retrieval",
        )
    varied, more_faults = await or_fallback(
        _diversified(ordered, context, newest_on=_newest_on(state, context)),
        Diversified(ordered),
        node="rerank",
        fallback="order of the reranker",
    )
    top = [
        {
            "chunk_id": c.chunk.chunk_id,
            "title": c.chunk.title,
            "heading": c.chunk.heading,
            **{name: round(c.scores[name], 4) for name in OF_RERANKERS if name in c.scores},
            "rerank": round(c.scores.get("rerank", c.scores.get("fused", 0.0)), 4),
        }
        for c in varied.candidates[:5]
    ]
    return {
        "candidates": varied.candidates,
        "copies": state.copies | varied.copies,
        "degraded": [*state.degraded, *faults, *more_faults],
        "summary": {"candidates": len(varied.candidates), "top": top}
        | ({} if context.rerank else {"left": "the order of retrieval"})
        | _counted(varied, sum("no_verdict" in c.scores for c in ordered)),
    }


def _newest_on(state: State, context: Context) -> date | None:
    """The day of the run where the newest versions come first; None where the question or a filter
    speaks of what was before, and in the widened loop, which drops what nobody asked for."""
    wanted = context.latest and state.derived_filters.conditions and not state.wide
    return context.day(state.started_at) if wanted else None


async def _diversified(
    ordered: list[Candidate], context: Context, *, newest_on: date | None
) -> Diversified:
    return diversified(
        ordered,
        collapse=context.collapse,
        per_document=context.per_document,
        mmr=context.mmr,
        per_source=context.per_source,
        newest_on=newest_on,
    )


def _counted(varied: Diversified, no_verdict: int) -> dict[str, int]:
    """What was changed and what the reranker could not read, where there was anything."""
    collapsed = sum(len(copies) for copies in varied.copies.values())
    said = {
        "collapsed": collapsed,
        "moved": varied.moved,
        "older": varied.older,
        "no_verdict": no_verdict,
    }
    return {name: n for name, n in said.items() if n}


async def _in_turn(
    reranker: Reranker, asked: list[str], candidates: list[Candidate]
) -> list[Candidate]:
    """The best of each question in turn: what a hop asks for, the whole question does not name."""
    orders = [await _reranked(reranker, one, candidates) for one in asked]
    if len(orders) == 1:
        return orders[0]
    taken: dict[str, Candidate] = {}
    for candidate in chain.from_iterable(zip(*orders, strict=True)):
        taken.setdefault(candidate.chunk.chunk_id, candidate)
    return list(taken.values())


async def _reranked(
    reranker: Reranker, question: str, candidates: list[Candidate]
) -> list[Candidate]:
    """Each candidate once and no other; what the reranker left out comes last. Raises TypeError
    where it gave no candidates."""
    before = {candidate.chunk.chunk_id: candidate for candidate in candidates}
    ordered = checked_candidates(await reranker.rerank(question, candidates))
    after = {c.chunk.chunk_id: c for c in ordered if c.chunk.chunk_id in before}
    return list((after | {key: c for key, c in before.items() if key not in after}).values())
