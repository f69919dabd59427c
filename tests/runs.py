"""Runs of the real graph with doubles behind its ports."""

import time
from dataclasses import dataclass, field
from typing import Any

from graph.adapters.grounding import QuoteChecker
from graph.builder import Graph, build, recursion_limit
from graph.services import Services
from graph.tracing import traced
from nodes.context import Context
from nodes.state import State, Update
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
    return await run_through(build(services), State(**state), context)


async def run_through(graph: Graph, state: State, context: Context) -> State:
    limit = recursion_limit(graph, context.rewrites)
    return State(**await graph.ainvoke(state, context=context, config={"recursion_limit": limit}))


@dataclass
class Told:
    """The deltas of a run with the seconds after which each came, and the state it ended in."""

    deltas: list[tuple[int, str, float]] = field(default_factory=list)
    state: State = field(default_factory=State)

    @property
    def texts(self) -> list[str]:
        return [text for _, text, _ in self.deltas]


async def told_through(graph: Graph, state: State, context: Context) -> Told:
    began, told = time.monotonic(), Told()
    async for mode, item in graph.astream(
        state,
        context=context,
        stream_mode=["custom", "values"],
        config={"recursion_limit": recursion_limit(graph, context.rewrites)},
    ):
        if mode == "values":
            told.state = State(**item)
        elif item["type"] == "answer.delta":
            told.deltas.append((item["index"], item["text"], time.monotonic() - began))
    return told


def with_a_node_between(graph: Graph, start: str, end: str) -> Graph:
    """The graph with one more node on this edge, which changes nothing, as a newcomer adds it."""

    async def extra(state: State, runtime: Any) -> Update:
        return {}

    more = graph.builder
    more.edges.remove((start, end))
    more.add_node("extra", traced("extra", extra))  # type: ignore[arg-type]
    more.add_edge(start, "extra")
    more.add_edge("extra", end)
    return more.compile()


SHORT = {
    "contextualize_question": "context",
    "plan_queries": "plan",
    "retrieve": "retrieve",
    "rerank": "rerank",
    "grade_documents": "grade",
    "rewrite_query": "rewrite",
    "web_search": "web",
    "generate": "generate",
    "check_grounding": "check",
    "answer_directly": "direct",
    "decline": "decline",
}


def route(state: State, *also: str) -> str:
    """The nodes in the order they ran, by short names. A node that is not in SHORT is left out,
    unless it is named in `also`: a new one does not change the routes of all the others."""
    names = SHORT | {name: name for name in also}
    return " ".join(names[entry.node] for entry in state.trace if entry.node in names)


def kinds(state: State) -> list[tuple[str, str]]:
    return [(fault.node, fault.kind) for fault in state.degraded]
