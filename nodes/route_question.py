"""Which knowledge bases a question is searched in first, where it may be searched in several."""

import math

from langgraph.runtime import Runtime

from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.plan_queries import intent_of
from nodes.ports import NamedBases, Router
from nodes.state import State, Update

NODE = "route_question"


async def route_question(
    state: State,
    runtime: Runtime[Context],
    *,
    bases: NamedBases | None = None,
    router: Router | None = None,
) -> Update:
    """The bases that the scope may search, and the one that is surely meant, or else all of them.

    Names fail closed: without them nothing is searched. A route fails open, to all.
    """
    context = runtime.context or DEFAULTS
    names, faults = await or_fallback(
        _names(state, context, bases), None, node=NODE, fallback="declined"
    )
    if names is None:
        failed = "the knowledge bases could not be read"
        degraded = [*state.degraded, *faults]
        return {"failed": failed, "degraded": degraded, "summary": {"error": failed}}
    scores: dict[str, float] = {}
    if (
        context.route
        and router is not None
        and len(names) > 1
        and intent_of(state.standalone) == "search"
    ):
        scores, faults = await or_fallback(
            _scores(state, context, router, names), {}, node=NODE, fallback="all bases are searched"
        )
    routed = surest(scores, context.route_margin) or names
    return {
        "bases": names,
        "routed": routed,
        "degraded": [*state.degraded, *faults],
        "summary": {"searched": routed, "of": len(names), **_shown(scores, routed)},
    }


def surest(scores: dict[str, float], margin: float) -> list[str]:
    """The base that leads all others by the margin at least; none where no base does."""
    order = sorted(scores, key=lambda name: (-scores[name], name))
    if len(order) < 2 or scores[order[0]] - scores[order[1]] < margin:
        return []
    return order[:1]


def _shown(scores: dict[str, float], routed: list[str]) -> dict[str, object]:
    """Scores of what is searched alone: a name is told where it was searched, and nowhere else."""
    if len(scores) < 2:
        return {}
    first, second = sorted(scores.values(), reverse=True)[:2]
    told = {name: round(scores[name], 4) for name in routed}
    return {"scores": told, "lead": round(first - second, 4)}


async def _names(state: State, context: Context, bases: NamedBases | None) -> list[str]:
    if bases is None:
        return state.knowledge_base.split(",")
    found = await bases.named(context.scope, state.knowledge_base)
    return [base.name for base in found]


async def _scores(
    state: State, context: Context, router: Router, names: list[str]
) -> dict[str, float]:
    """Raises ValueError where a base has no score: what is not known of one decides nothing."""
    found = await router.scores(context.scope, state.standalone, names)
    scores = {name: float(found.get(name, math.nan)) for name in names}
    if not all(map(math.isfinite, scores.values())):
        raise ValueError("the router has no score for a knowledge base")
    return scores
