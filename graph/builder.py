"""The state machine: nodes, then edges, in the order a question travels."""

from functools import partial

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph.routing import (
    after_checking_cache,
    after_contextualizing,
    after_estimating,
    after_generating,
    after_grading,
    after_grounding,
    after_planning,
    after_retrieving,
    after_rewriting,
    after_routing,
    after_web_search,
    routed,
)
from graph.services import Services
from graph.tracing import traced
from nodes.answer_directly import answer_directly
from nodes.check_cache import check_cache
from nodes.check_grounding import REPAIRS, check_grounding
from nodes.clarify import clarify
from nodes.context import Context
from nodes.contextualize_question import contextualize_question
from nodes.decline import decline
from nodes.estimate_confidence import estimate_confidence
from nodes.follow_hops import follow_hops
from nodes.generate import generate
from nodes.grade_documents import grade_documents
from nodes.plan_queries import plan_queries
from nodes.rerank import rerank
from nodes.retrieve import retrieve
from nodes.rewrite_query import rewrite_query
from nodes.route_question import route_question
from nodes.state import State
from nodes.store_answer import store_answer
from nodes.web_search import web_search

Graph = CompiledStateGraph[State, Context, State, State]


def build(
    ports: Services,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    options: type[Context] = Context,
) -> Graph:
    """The compiled graph with these ports bound to its nodes, and these options of a run."""
    graph = StateGraph(State, context_schema=options)
    defaults = options()

    def add(name: str, node: object, *, begins: bool = False) -> None:
        graph.add_node(name, traced(name, node, begins=begins))  # type: ignore[arg-type]

    add(
        "contextualize_question",
        partial(contextualize_question, writer=ports.writer),
        begins=True,
    )
    add("route_question", partial(route_question, bases=ports.bases, router=ports.router))
    add("check_cache", partial(check_cache, cache=ports.cache, index=ports.index))
    add("plan_queries", partial(plan_queries, writer=ports.writer, documents=ports.documents))
    add("follow_hops", partial(follow_hops, index=ports.index, writer=ports.writer))
    add("answer_directly", answer_directly)
    add("retrieve", partial(retrieve, index=ports.index, documents=ports.documents))
    add("rerank", partial(rerank, reranker=ports.reranker, by_chat=ports.by_chat))
    add("grade_documents", partial(grade_documents, grader=ports.grader))
    add("rewrite_query", partial(rewrite_query, writer=ports.writer))
    add("web_search", partial(web_search, web=ports.web))
    add("generate", partial(generate, generator=ports.generator, texts=ports.index))
    add("estimate_confidence", partial(estimate_confidence, model=ports.confidence))
    add("check_grounding", partial(check_grounding, checker=ports.checker, texts=ports.index))
    add("store_answer", partial(store_answer, cache=ports.cache))
    add("clarify", clarify)
    add("decline", partial(decline, others=ports.others, in_scope=ports.in_scope))

    graph.add_edge(START, "contextualize_question")
    graph.add_conditional_edges(
        "contextualize_question",
        routed(after_contextualizing, defaults, cached=ports.cache is not None),
        ["route_question", "check_cache", "plan_queries"],
    )
    graph.add_conditional_edges(
        "route_question",
        routed(after_routing, defaults, cached=ports.cache is not None),
        ["check_cache", "plan_queries", "decline"],
    )
    graph.add_conditional_edges(
        "check_cache", after_checking_cache, {"plan_queries": "plan_queries", "done": END}
    )
    graph.add_conditional_edges(
        "plan_queries",
        routed(after_planning, defaults, chat=ports.writer is not None),
        ["follow_hops", "retrieve", "answer_directly", "decline"],
    )
    graph.add_edge("follow_hops", "retrieve")
    graph.add_conditional_edges("retrieve", after_retrieving, ["rerank", "decline"])
    graph.add_edge("rerank", "grade_documents")
    graph.add_conditional_edges(
        "grade_documents",
        routed(after_grading, defaults),
        ["generate", "clarify", "rewrite_query", "web_search", "decline"],
    )
    graph.add_conditional_edges(
        "rewrite_query",
        routed(after_rewriting, defaults),
        ["retrieve", "generate", "web_search", "decline"],
    )
    graph.add_conditional_edges("web_search", after_web_search, ["rerank", "generate", "decline"])
    graph.add_conditional_edges("generate", after_generating, ["estimate_confidence", "decline"])
    graph.add_conditional_edges(
        "estimate_confidence",
        routed(after_estimating, defaults),
        ["check_grounding", "web_search", "decline"],
    )
    graph.add_conditional_edges(
        "check_grounding",
        after_grounding,
        {
            "generate": "generate",
            "decline": "decline",
            "store_answer": "store_answer",
            "done": END,
        },
    )
    graph.add_edge("store_answer", END)
    graph.add_edge("answer_directly", END)
    graph.add_edge("clarify", END)
    graph.add_edge("decline", END)
    return graph.compile(checkpointer=checkpointer, name="corrective_rag")


def recursion_limit(graph: Graph, rewrites: int) -> int:
    """Steps that no run of this graph reaches, whatever nodes it has.

    A run turns back for each rewrite and each repair, and once for the web; between two turns no
    node runs twice. A loop of another kind has to be counted here.
    """
    web = 1
    return len(graph.nodes) * (1 + rewrites + web + REPAIRS)
