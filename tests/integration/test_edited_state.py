"""A checkpoint that a person edits, as in Studio: its JSON is read, and it decides the route."""

import dataclasses
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.adapters.checkpoints import plain_serializer
from graph.builder import build
from nodes.state import State
from tests.fakes import FakeIndex, a_candidate
from tests.runs import QUESTION, ports, route

CONFIG: Any = {"configurable": {"thread_id": "t"}}


async def stopped(before: str) -> Any:
    """The graph, interrupted before this node; two passages were found."""
    index = FakeIndex([a_candidate("a"), a_candidate("b")])
    graph = build(ports(index=index), InMemorySaver(serde=plain_serializer()))
    given = State(question=QUESTION, knowledge_base="kb")
    await graph.ainvoke(given, CONFIG, interrupt_before=[before])  # type: ignore[arg-type]
    return graph


async def values(graph: Any) -> dict[str, Any]:
    return dict((await graph.aget_state(CONFIG)).values)


async def test_candidates_that_were_edited_are_graded() -> None:
    graph = await stopped("grade_documents")
    found = (await values(graph))["candidates"]
    edited = [dataclasses.asdict(found[0])]
    await graph.aupdate_state(CONFIG, {"candidates": edited}, as_node="rerank")
    end = State(**await graph.ainvoke(None, CONFIG))
    assert end.graded.keys() == {found[0].chunk.chunk_id}
    assert route(end).endswith("generate check")


@pytest.mark.parametrize(("kept", "following"), [(0, "rewrite_query"), (1, "generate")])
async def test_evidence_that_was_edited_decides_the_route(kept: int, following: str) -> None:
    graph = await stopped("generate")
    evidence = [dataclasses.asdict(e) for e in (await values(graph))["evidence"]]
    await graph.aupdate_state(CONFIG, {"evidence": evidence[:kept]}, as_node="grade_documents")
    assert (await graph.aget_state(CONFIG)).next == (following,)


async def test_a_second_question_on_a_thread_sees_nothing_of_the_first() -> None:
    graph = await stopped("decline")
    first = State(**await values(graph))
    second = State(**await graph.ainvoke({"question": QUESTION}, CONFIG))
    assert route(second) == route(first)
    assert second.queries == first.queries
