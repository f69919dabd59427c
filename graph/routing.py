"""Where a question travels next. Each route is a plain function of the state."""

from collections.abc import Callable
from typing import Literal

from langgraph.runtime import Runtime, get_runtime

from ingest.live import several
from nodes.bases import narrowed_route
from nodes.budget import out_of_time, rewrites_left
from nodes.check_grounding import REPAIRS
from nodes.clarify import should_ask_back
from nodes.confidence import too_unsure
from nodes.context import DEFAULTS, Context
from nodes.evidence import enough, usable
from nodes.follow_hops import leads_on
from nodes.kept_answer import worth_keeping
from nodes.plan_queries import intent_of
from nodes.rewrite_query import emptied, held_back
from nodes.state import State


def after_contextualizing(
    state: State, runtime: Runtime[Context], *, cached: bool
) -> Literal["route_question", "check_cache", "plan_queries"]:
    if several(state.knowledge_base):
        return "route_question"
    return _after_reading(state, runtime, cached)


def after_routing(
    state: State, runtime: Runtime[Context], *, cached: bool
) -> Literal["check_cache", "plan_queries", "decline"]:
    return "decline" if state.failed else _after_reading(state, runtime, cached)


def _after_reading(
    state: State, runtime: Runtime[Context], cached: bool
) -> Literal["check_cache", "plan_queries"]:
    asked = (runtime.context or DEFAULTS).cache and not state.failed
    return "check_cache" if cached and asked else "plan_queries"


def after_checking_cache(state: State) -> Literal["plan_queries", "done"]:
    return "done" if state.outcome is not None else "plan_queries"


def after_planning(
    state: State, runtime: Runtime[Context], *, chat: bool
) -> Literal["follow_hops", "retrieve", "answer_directly", "decline"]:
    if state.failed:
        return "decline"
    if intent_of(state.standalone) != "search":
        return "answer_directly"
    follows = leads_on(state, runtime.context or DEFAULTS, chat=chat)
    return "follow_hops" if follows else "retrieve"


def after_retrieving(state: State) -> Literal["rerank", "decline"]:
    return "decline" if state.failed else "rerank"


def after_grading(
    state: State, runtime: Runtime[Context]
) -> Literal["generate", "clarify", "rewrite_query", "web_search", "decline"]:
    """A question that may mean several things found: ask back, before any loop. Enough evidence:
    generate. Else rewrite while loops bring new chunks or filters still hold some back, then search
    the web where the base opted in, then answer from ambiguous evidence or decline."""
    context = runtime.context or DEFAULTS
    if state.failed:
        return "decline"
    if context.clarify and not state.spent.rewrites and should_ask_back(state):
        return "clarify"
    if enough(state):
        return "generate"
    may_loop = rewrites_left(state, context) > 0 and not state.web_searched
    progress = state.new_chunks > 0 or emptied(state) or held_back(state) or narrowed_route(state)
    if may_loop and progress and not out_of_time(state, context):
        return "rewrite_query"
    return _after_loops(state, context)


def after_rewriting(
    state: State, runtime: Runtime[Context]
) -> Literal["retrieve", "generate", "web_search", "decline"]:
    if state.failed:
        return "decline"
    if not state.loops_over:
        return "retrieve"
    return _after_loops(state, runtime.context or DEFAULTS)


def after_web_search(
    state: State, runtime: Runtime[Context]
) -> Literal["rerank", "generate", "decline"]:
    if state.failed:
        return "decline"
    if state.candidates:
        return "rerank"
    return "generate" if usable(state) else "decline"


def after_generating(state: State) -> Literal["estimate_confidence", "decline"]:
    return "decline" if state.failed else "estimate_confidence"


def after_estimating(
    state: State, runtime: Runtime[Context]
) -> Literal["check_grounding", "web_search", "decline"]:
    """Too unsure: the web where the base opted in, else a refusal. Nothing was told yet."""
    context = runtime.context or DEFAULTS
    if state.failed:
        return "decline"
    if not too_unsure(state, context):
        return "check_grounding"
    return "web_search" if _may_search_web(state, context) else "decline"


def after_grounding(state: State) -> Literal["generate", "decline", "store_answer", "done"]:
    """Supported: done, and kept where it may be. Else one repair without the sentences that failed,
    then decline."""
    if state.outcome is not None:
        return "store_answer" if worth_keeping(state) else "done"
    if state.failed or not state.draft or state.repairs > REPAIRS:
        return "decline"
    return "generate"


def _after_loops(state: State, context: Context) -> Literal["generate", "web_search", "decline"]:
    if _may_search_web(state, context):
        return "web_search"
    return "generate" if usable(state) else "decline"


def _may_search_web(state: State, context: Context) -> bool:
    return context.web and not state.web_searched and not out_of_time(state, context)


def routed(route: Callable[..., str], defaults: Context, **bound: bool) -> Callable[[State], str]:
    """The route with the options of its run, and what is bound when the graph is built. Where a
    person edits a checkpoint there is no run, and the defaults decide."""

    def decide(state: State) -> str:
        running: Runtime[Context] | None = get_runtime(Context)
        return route(state, running or Runtime(context=defaults), **bound)

    decide.__name__ = route.__name__
    return decide
