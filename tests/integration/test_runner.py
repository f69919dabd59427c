"""The runner on a real index: events in order, runs in the log, conversations on a thread."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.adapters.checkpoints import plain_serializer
from graph.builder import build
from graph.run_log import RunLog
from graph.runner import Ask, Event, Runner
from graph.settings import BudgetSettings, GraphSettings
from ingest.errors import InvalidRequest, NotFound, UnknownKnowledgeBase
from ingest.filters import Condition, Filters
from ingest.ports import KnowledgeBase
from ingest.scope import LOCAL, Scope
from nodes.ports import GradedPassages
from nodes.state import Turn
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import FakeGrader, HashingEmbedder, a_grade, a_run_log
from tests.runs import ports

DOCUMENTS = {
    "refunds.md": "# Refunds\n\nRefunds are paid within five days.\n",
    "gateways.md": "# Gateways\n\nA gateway is returned with its power supply.\n",
    "leave.md": "# Leave\n\nParental leave lasts twelve weeks.\n",
}
QUESTION = "When are refunds paid?"


class Opened:
    def __init__(self, runner: Runner, corpus: OpenCorpus, runs: RunLog, graph: Any) -> None:
        self.runner, self.corpus, self.runs, self.graph = runner, corpus, runs, graph

    async def events(self, question: str = QUESTION, base: str = BASE, **more: Any) -> list[Event]:
        return [event async for event in self.runner.stream(Ask(question, base, **more))]


def first_is_correct(candidates: Any) -> GradedPassages:
    verdicts = ["correct"] + ["incorrect"] * (len(candidates) - 1)
    return GradedPassages([a_grade(verdict) for verdict in verdicts])


@pytest.fixture
async def opened(store_path: Path, embedder: HashingEmbedder) -> AsyncIterator[Opened]:
    async with (
        open_corpus(store_path / "crag", embedder) as corpus,
        AsyncSqliteSaver.from_conn_string(str(store_path / "threads.sqlite")) as saver,
    ):
        for source, text in DOCUMENTS.items():
            await corpus.upload(source, text)
        saver.serde = plain_serializer()
        services = ports(index=corpus.index, grader=FakeGrader(first_is_correct))
        graph = build(services, saver)
        runs = a_run_log(store_path / "runs.sqlite")
        runner = Runner(
            graph=graph,
            index=corpus.index,
            bases=corpus.bases,
            runs=runs,
            settings=GraphSettings(budget=BudgetSettings(rewrites=2)),
            calibration="c1",
        )
        yield Opened(runner, corpus, runs, graph)
        runs.close()


async def test_events_come_in_order_and_are_counted(opened: Opened) -> None:
    events = await opened.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    types = [event.type for event in events]
    assert types[0] == "run"
    assert types[-1] == "answer"
    assert types.index("answer.delta") > types.index("node")
    nodes = [event.data["entry"] for event in events if event.type == "node"]
    assert nodes == events[-1].data["trace"]
    assert events[0].data["run_id"] == events[-1].data["run_id"]


async def test_the_deltas_are_the_answer(opened: Opened) -> None:
    events = await opened.events()
    deltas = [event.data["text"] for event in events if event.type == "answer.delta"]
    assert "\n".join(deltas) == events[-1].data["answer"]
    assert "five days" in deltas[0]


async def test_a_citation_stands_in_the_stored_text(opened: Opened) -> None:
    answer = await opened.runner.ask(Ask(QUESTION, BASE))
    (citation,) = answer.citations
    text = await opened.corpus.index.text(LOCAL, BASE, citation.document_id, citation.revision)
    assert text is not None
    assert text[citation.start : citation.end] == citation.quote
    assert answer.versions["index"] == await opened.corpus.index.version(LOCAL, BASE)
    assert answer.versions["calibration"] == "c1"


async def test_a_run_is_in_the_log_of_its_tenant_alone(opened: Opened) -> None:
    first = await opened.runner.ask(Ask(QUESTION, BASE))
    second = await opened.runner.ask(Ask("How long is parental leave?", BASE))
    assert [run["run_id"] for run in await opened.runs.recent(LOCAL)] == [
        second.run_id,
        first.run_id,
    ]
    assert await opened.runs.get(LOCAL, first.run_id) == first.as_json()
    assert await opened.runs.recent(Scope("other")) == []
    with pytest.raises(NotFound):
        await opened.runs.get(Scope("other"), first.run_id)


async def test_an_unknown_base_raises(opened: Opened) -> None:
    with pytest.raises(UnknownKnowledgeBase):
        await opened.events(base="nope")
    with pytest.raises(UnknownKnowledgeBase):
        await opened.events(scope=Scope("other"))
    assert await opened.runs.recent(LOCAL) == []


async def test_an_option_may_only_tighten(opened: Opened) -> None:
    with pytest.raises(InvalidRequest, match="at most 2"):
        await opened.events(options={"rewrites": 3})
    answer = (await opened.events(options={"rewrites": 0}))[-1].data
    assert answer["budget"]["rewrites"] == {"used": 0, "limit": 0}


async def test_filters_of_the_request_hold(opened: Opened) -> None:
    (leave,) = [
        d for d in await opened.corpus.index.documents(LOCAL, BASE) if d.source == "leave.md"
    ]
    only = Filters([Condition("document_id", [leave.document_id])])
    answer = await opened.runner.ask(Ask(QUESTION, BASE, filters=only))
    assert {c.document_id for c in answer.citations} == {leave.document_id}


async def test_a_thread_remembers_what_was_said(opened: Opened) -> None:
    await opened.events(QUESTION, thread_id="t")
    answer = (await opened.events("And how long does it take?", thread_id="t"))[-1].data
    standalone = answer["trace"][0]["summary"].get("standalone", "")
    assert "refunds" in standalone


async def test_a_thread_keeps_its_turns_and_nothing_of_the_last_run(opened: Opened) -> None:
    first = (await opened.events(QUESTION, thread_id="t"))[-1].data
    second = (await opened.events("hello", thread_id="t"))[-1].data
    assert second["outcome"] == "no_retrieval"
    assert second["citations"] == []
    assert second["searched"]["queries"] == []
    assert [entry["seq"] for entry in second["trace"]] == [1, 2, 3]
    values = (await opened.graph.aget_state(config("local/t"))).values
    assert values["turns"][0] == Turn(QUESTION, first["answer"])
    assert values["evidence"] == values["queries"] == []


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


async def test_a_thread_belongs_to_its_tenant(opened: Opened) -> None:
    await opened.events(QUESTION, thread_id="t")
    with pytest.raises(NotFound):
        await opened.runner.delete_thread(Scope("other"), "t")
    await opened.runner.delete_thread(LOCAL, "t")
    with pytest.raises(NotFound):
        await opened.runner.delete_thread(LOCAL, "t")


async def test_a_run_without_a_thread_leaves_no_checkpoint(opened: Opened) -> None:
    """Else every question ever asked stays on disk with all its candidates."""
    await opened.events(QUESTION)
    assert [item async for item in opened.graph.checkpointer.alist(None)] == []


async def test_a_log_that_fails_costs_no_answer(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*args: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(opened.runs, "add", full)
    assert (await opened.runner.ask(Ask(QUESTION, BASE))).outcome == "answered"


async def test_the_log_keeps_a_bounded_number(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.run_log.KEPT", 3)
    answer = await opened.runner.ask(Ask(QUESTION, BASE))
    for n in range(5):
        await opened.runs.add(LOCAL, BASE, replace(answer, run_id=f"r{n}"))
    assert [run["run_id"] for run in await opened.runs.recent(LOCAL)] == ["r4", "r3", "r2"]


async def test_the_web_of_a_base_is_off_unless_it_opted_in(opened: Opened) -> None:
    bases: list[KnowledgeBase] = await opened.corpus.bases.bases(LOCAL)
    assert [base.web for base in bases] == [False]
    answer = await opened.runner.ask(Ask(QUESTION, BASE, options={"web": True}))
    assert answer.searched["web"] is False


async def test_no_control_character_gets_into_a_run(opened: Opened) -> None:
    said = [Turn("What\x1b are refunds?", "Money\x07.")]
    for name in ("before", "after"):
        question = f"{name}: When\x1b[31m are refunds\x00 paid?"
        events = await opened.events(question, history=said, thread_id="t")
        answer = events[-1].data
        assert answer["question"] == f"{name}: When [31m are refunds  paid?"
        told = repr([event.data for event in events])
        assert not any(written in told for written in (r"\x1b", r"\x00", r"\x07"))
