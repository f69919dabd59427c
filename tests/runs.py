"""Runs of the real graph with doubles behind its ports."""

import time
from typing import Any

from graph.adapters.grounding import QuoteChecker
from graph.builder import build, longest_path
from graph.services import Services
from nodes.context import Context
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, FakeReranker, FakeWeb, QuotingGenerator, a_candidate

QUESTION = "How long do refunds take after a return?"


def ports(**changed: Any) -> Services:
    """One passage that nothing is wrong with, and the real check of quotations."""
    plain = {
        "index": FakeIndex([a_candidate("a")]),
        "reranker": FakeReranker(),
        "grader": FakeGrader({"a": "correct"}),
        "web": FakeWeb(missing="CRAG_WEB__TAVILY_API_KEY is not set"),
        "generator": QuotingGenerator(),
        "checker": QuoteChecker(),
    }
    return Services(**(plain | changed))


async def run(services: Services, question: str = QUESTION, **options: Any) -> State:
    """The state that the run ends in; `options` are of Context or of State."""
    fields = {name: options.pop(name) for name in list(options) if name not in Context.model_fields}
    context = Context(**options)
    state = {"question": question, "knowledge_base": "kb", "started_at": time.time()} | fields
    values = await build(services).ainvoke(
        State(**state),
        context=context,
        config={"recursion_limit": longest_path(context.rewrites) + 1},
    )
    return State(**values)


SHORT = {
    "contextualize_question": "context",
    "plan_queries": "plan",
    "grade_documents": "grade",
    "rewrite_query": "rewrite",
    "web_search": "web",
    "check_grounding": "check",
    "answer_directly": "direct",
}


def route(state: State) -> str:
    """The nodes in the order they ran, by short names."""
    return " ".join(SHORT.get(entry.node, entry.node) for entry in state.trace)


def kinds(state: State) -> list[tuple[str, str]]:
    return [(fault.node, fault.kind) for fault in state.degraded]
