"""A state is the same after a checkpoint, and no type of it is unknown to the serializer."""

import dataclasses
import logging
import warnings
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import TypeAdapter, ValidationError

from graph.adapters.checkpoints import plain_serializer
from graph.builder import build, recursion_limit
from ingest.filters import Condition, Filters
from nodes.context import Context
from nodes.findings import (
    Citation,
    Evidence,
    Grade,
    Rejected,
    Sentence,
    SourceSpan,
    Stated,
    Support,
)
from nodes.ports import WebResult
from nodes.state import GIVEN, Degraded, Query, Spent, State, TraceEntry, Turn, begun
from tests.fakes import FakeGrader, FakeWeb, a_candidate, a_citation, a_grade
from tests.runs import QUESTION, ports

CANDIDATE = a_candidate("a", dense=0.5, bm25=3.25)
FULL = State(
    question="Wie lange? 🗂",
    knowledge_base="kb",
    history=[Turn("q", "a")],
    filters=Filters([Condition("language", ["en"], exclude=True)]),
    started_at=1.5,
    turns=[Turn("earlier", "answer")],
    standalone="Wie lange? (Frist)",
    queries=[Query("Frist", "keywords", 1)],
    derived_filters=Filters([Condition("status", ["draft"])]),
    question_filters=Filters([Condition("version", ["2"])]),
    wide=True,
    candidates=[CANDIDATE],
    candidates_seen=["a"],
    copies={"a": [CANDIDATE]},
    bases=["hr", "it"],
    routed=["it"],
    graded={
        "a": dataclasses.replace(
            a_grade("correct"), signs={"dense": 0.5}, sentences=[Stated(0, 4, 0.5)]
        )
    },
    evidence=[Evidence(CANDIDATE, a_grade("ambiguous"), 2, parts={"Frist": a_grade("correct")})],
    instructions=["a"],
    new_chunks=1,
    proposed="notice period",
    loops_over="no technique left",
    web_searched=True,
    web_sent="sent",
    draft=[Sentence("text", [a_citation(CANDIDATE.chunk)], "a note", ["Wie lange?"])],
    reservations=["the documents disagree"],
    supports=[Support("text", "supported", 1.0, "", SourceSpan("d", "r", 0, 4))],
    kept=[Sentence("kept", [])],
    rejected=[Rejected("other", "unsupported", "the source")],
    repairs=1,
    spent=Spent(2, 3, 4),
    degraded=[Degraded("rerank", "x", "y", "z")],
    failed="f",
    outcome="answered",
    reason="budget",
    confidence=0.75,
    choices=["Guide > Price"],
    suggestions=["Ask again in a moment."],
    cache_key="5f2a",
    trace=[TraceEntry(1, "retrieve", 1, "2026-01-01", 1.0, "ok", {"top": [{"title": "t"}]})],
)


def test_every_field_is_filled_so_that_every_type_is_tried() -> None:
    empty = State()
    names = [field.name for field in dataclasses.fields(State)]
    assert [name for name in names if getattr(FULL, name) == getattr(empty, name)] == []


def test_every_field_survives_the_serializer(caplog: pytest.LogCaptureFixture) -> None:
    serializer = plain_serializer()
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        for field in dataclasses.fields(State):
            value = getattr(FULL, field.name)
            assert serializer.loads_typed(serializer.dumps_typed(value)) == value, field.name
        assert serializer.loads_typed(serializer.dumps_typed(FULL.trace)) == FULL.trace
    assert caplog.records == []


def test_a_checkpoint_is_read_whose_types_stood_in_another_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for moved in (Citation, Evidence, Grade, Rejected, Sentence, SourceSpan, Stated, Support):
        monkeypatch.setattr(moved, "__module__", "nodes.state")
    serializer = plain_serializer()
    written = {name: serializer.dumps_typed(value) for name, value in vars(FULL).items()}
    monkeypatch.undo()
    read = {name: serializer.loads_typed(value) for name, value in written.items()}
    assert isinstance(read["draft"][0], dict)
    assert State(**read) == FULL


def test_every_field_survives_json() -> None:
    plain = TypeAdapter(State).dump_python(FULL, mode="json")
    assert State(**plain) == FULL


def test_an_object_of_json_may_stand_beside_what_a_node_wrote() -> None:
    known = Evidence(CANDIDATE, a_grade("correct"), 0)
    sent: Any = dataclasses.asdict(known)
    evidence = State(evidence=[known, sent]).evidence
    assert evidence[0] is known
    assert evidence == [known, known]


@pytest.mark.parametrize("wrong", [{"evidence": [{}]}, {"graded": {"a": {"verdict": "good"}}}])
def test_an_object_that_stands_for_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        State(**wrong)


def test_a_run_begins_with_what_it_is_given_and_nothing_else() -> None:
    given: dict[str, Any] = {name: getattr(FULL, name) for name in GIVEN}
    assert begun(FULL) == State(**given)
    assert {"question", "history", "turns"} <= given.keys()


async def test_a_run_is_read_back_from_its_checkpoint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    page = WebResult("https://example.org", "Page", "A page that is near it.")
    services = ports(grader=FakeGrader({"a": "ambiguous"}), web=FakeWeb([page]))
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        saver.serde = plain_serializer()
        graph = build(services, saver)
        limit = recursion_limit(graph, rewrites=3)
        config: Any = {"recursion_limit": limit, "configurable": {"thread_id": "t"}}
        with caplog.at_level(logging.WARNING):
            values = await graph.ainvoke(
                State(question=QUESTION, knowledge_base="kb"),
                context=Context(web=True),
                config=config,
                durability="exit",
            )
            read = await graph.aget_state(config)
    assert State(**read.values) == State(**values)
    assert caplog.records == []
