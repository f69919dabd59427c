"""Golden questions through both pipelines, on a real index with doubles behind the other ports."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from eval.evaluate import run_and_keep
from eval.golden import Exchange
from eval.metrics import measure
from eval.records import PIPELINES, Record, read_records
from eval.relevance import StaleLabels
from eval.results import Incomplete, read_results
from eval.runner import deterministic, run_questions
from graph.adapters.checkpoints import plain_serializer
from graph.builder import build
from graph.compose import Service
from graph.run_log import RunLog
from graph.runner import Ask, Runner
from graph.settings import BudgetSettings, GraphSettings, RetrieveSettings
from ingest.documents import Candidate
from ingest.errors import ConfigurationError, DependencyError
from ingest.index import Index
from ingest.scope import LOCAL
from nodes.budget import BudgetSpent
from nodes.ports import GradedPassages
from nodes.state import State
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import (
    FakeChecker,
    FakeGrader,
    FakeReranker,
    FakeWeb,
    HashingEmbedder,
    a_grade,
    a_run_log,
)
from tests.golden_records import QUOTE, a_label, a_question
from tests.runs import ports

DOCUMENTS = {
    "refunds.md": f"# Refunds\n\n{QUOTE}\n",
    "gateways.md": "# Gateways\n\nA gateway is returned with its power supply.\n",
    "leave.md": "# Leave\n\nParental leave lasts twelve weeks.\n",
}
REFUNDS = a_question("refunds", question="When are refunds paid?", must_contain=["five days"])
LEAVE = a_question(
    "leave",
    question="How long is parental leave?",
    relevant=[a_label("Parental leave lasts twelve weeks.", "leave.md")],
    must_contain=["twelve weeks"],
)
MOON = a_question("moon", question="Who walked on the moon?", answerable=False)

Verdicts = Callable[[Sequence[Candidate]], list[str]]


class Troubled:
    """The index, but a search for `moon` raises; labels are still found."""

    def __init__(self, index: Index, error: Exception) -> None:
        self._index = index
        self._error = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def search(self, scope: Any, base: str, question: str, *rest: Any, **more: Any) -> Any:
        if "moon" in question:
            raise self._error
        return await self._index.search(scope, base, question, *rest, **more)


@pytest.fixture
async def corpus(store_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(store_path / "crag", embedder) as corpus:
        for source, text in DOCUMENTS.items():
            await corpus.upload(source, text)
        yield corpus


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[RunLog]:
    log = a_run_log(tmp_path / "runs.sqlite")
    yield log
    log.close()


def first_is(verdict: str) -> Any:
    def graded(candidates: Sequence[Candidate]) -> GradedPassages:
        rest = ["incorrect"] * (len(candidates) - 1)
        return GradedPassages([a_grade(one) for one in [verdict, *rest][: len(candidates)]])

    return FakeGrader(graded)


def a_service(corpus: OpenCorpus, runs: RunLog, index: Any = None, **changed: Any) -> Service:
    index = index or corpus.index
    services = ports(**({"index": index, "grader": first_is("correct")} | changed))
    settings = deterministic(GraphSettings(budget=BudgetSettings(rewrites=1)))
    graph = build(services, InMemorySaver(serde=plain_serializer()))
    runner = Runner(
        graph=graph,
        index=index,
        bases=corpus.bases,
        runs=runs,
        settings=settings,
        calibration="c1",
    )
    whole = replace(corpus.corpus, index=index)
    return Service(runner, graph, whole, runs, services, settings)


async def records_of(service: Service, *questions: Any) -> dict[tuple[str, str], Record]:
    run = run_questions(service, questions, PIPELINES, progress=lambda done, total: None)
    return {record.key: record async for record in run}


async def test_each_question_is_a_record_of_each_pipeline_in_order(
    corpus: OpenCorpus, runs: RunLog
) -> None:
    seen: list[tuple[int, int]] = []
    run = run_questions(
        a_service(corpus, runs),
        [REFUNDS, MOON],
        PIPELINES,
        progress=lambda done, total: seen.append((done, total)),
    )
    keys = [record.key async for record in run]
    assert keys == [(p, q) for q in ("refunds", "moon") for p in ("corrective", "naive")]
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


async def test_a_record_holds_what_the_run_did(corpus: OpenCorpus, runs: RunLog) -> None:
    record = (await records_of(a_service(corpus, runs), REFUNDS))["corrective", "refunds"]
    assert record.error is None
    ran = record.ran
    assert ran is not None
    assert ran.outcome == "answered"
    assert QUOTE in ran.answer
    (sentence,) = ran.sentences
    assert sentence.supported is True
    assert [(c.document, c.problem) for c in sentence.citations] == [("refunds.md", "")]
    assert set(ran.stages) == {"retrieved", "reranked", "graded", "corrected"}
    assert ran.stages["graded"] == ran.stages["corrected"] == record.relevant
    assert len(ran.stages["retrieved"]) == len(DOCUMENTS)
    assert ran.best_grade == 0.9
    assert QUOTE in ran.passages[0]
    assert ran.total_ms > 0
    assert [entry["node"] for entry in ran.trace][-1] == "check_grounding"


async def test_the_naive_line_answers_everything(corpus: OpenCorpus, runs: RunLog) -> None:
    found = await records_of(a_service(corpus, runs), REFUNDS, LEAVE, MOON)
    naive = [record.ran for key, record in found.items() if key[0] == "naive"]
    assert [ran and ran.outcome for ran in naive] == ["answered"] * 3
    for ran in naive:
        assert ran is not None
        assert set(ran.stages) == {"retrieved"}
        assert ran.sentences
        assert {c.problem for told in ran.sentences for c in told.citations} == {""}
        assert (ran.loops, ran.chat_calls, ran.trace) == (0, 0, [])


async def test_what_survives_later_is_in_the_last_stage_alone(
    corpus: OpenCorpus, runs: RunLog
) -> None:
    """The first search is graded wrong; the loop's is graded right."""
    calls: list[int] = []

    def later(candidates: Sequence[Candidate]) -> GradedPassages:
        calls.append(len(candidates))
        verdict = "incorrect" if len(calls) == 1 else "correct"
        return GradedPassages([a_grade(verdict) for _ in candidates])

    service = a_service(corpus, runs, grader=FakeGrader(later))
    rerank = service.settings.rerank.model_copy(update={"keep": 1})
    service.runner._settings = service.settings.model_copy(update={"rerank": rerank})
    ran = (await records_of(service, REFUNDS))["corrective", "refunds"].ran
    assert ran is not None
    assert ran.loops == 1
    assert ran.stages["graded"] == []
    assert len(ran.stages["corrected"]) == 1


async def test_a_refusal_is_a_record_and_has_no_verdicts(corpus: OpenCorpus, runs: RunLog) -> None:
    ran = (await records_of(a_service(corpus, runs, grader=FakeGrader()), MOON))[
        "corrective", "moon"
    ].ran
    assert ran is not None
    assert (ran.outcome, ran.reason) == ("refused", "no_evidence")
    assert [told.supported for told in ran.sentences] == [None]
    assert ran.passages == ran.stages["corrected"] == []


async def test_small_talk_has_no_stages(corpus: OpenCorpus, runs: RunLog) -> None:
    hello = a_question("hello", question="hello", answerable=False)
    ran = (await records_of(a_service(corpus, runs), hello))["corrective", "hello"].ran
    assert ran is not None
    assert (ran.outcome, ran.stages) == ("no_retrieval", {})


@pytest.mark.parametrize("passages", [1, 4, 5])
async def test_a_refusal_after_rejected_sentences_is_a_record(
    corpus: OpenCorpus, runs: RunLog, passages: int
) -> None:
    """Three sentences fail, then those of the repair: their verdicts are on no refusal."""
    for n in range(passages):
        await corpus.upload(f"rule-{n}.md", f"# Rule {n}\n\nRefunds follow rule {n}.\n")

    def correct(candidates: Sequence[Candidate]) -> GradedPassages:
        verdicts = ["correct" if n < passages else "incorrect" for n in range(len(candidates))]
        return GradedPassages([a_grade(verdict) for verdict in verdicts])

    service = a_service(corpus, runs, grader=FakeGrader(correct), checker=FakeChecker("."))
    ran = (await records_of(service, REFUNDS))["corrective", "refunds"].ran
    assert ran is not None
    assert (ran.outcome, ran.reason) == ("refused", "ungrounded")
    assert [told.supported for told in ran.sentences] == [None]


async def test_a_failed_search_is_an_error_of_its_question_alone(
    corpus: OpenCorpus, runs: RunLog
) -> None:
    index = Troubled(corpus.index, DependencyError("the store is gone"))
    found = await records_of(a_service(corpus, runs, index), REFUNDS, MOON, LEAVE)
    assert found["naive", "moon"].error == "dependency_down: the store is gone"
    assert found["naive", "moon"].ran is None
    others = [record for key, record in found.items() if key[1] != "moon"]
    assert [record.error for record in others] == [None] * 4


async def test_any_failure_of_a_port_is_an_error_of_its_question_alone(
    corpus: OpenCorpus, runs: RunLog
) -> None:
    """Ports may be other people's code."""
    index = Troubled(corpus.index, RuntimeError("no such tensor"))
    found = await records_of(a_service(corpus, runs, index), MOON, REFUNDS)
    error = found["naive", "moon"].error
    assert error is not None
    assert "no such tensor" in error
    assert found["naive", "refunds"].error is None


async def test_a_spent_budget_is_a_verdict(corpus: OpenCorpus, runs: RunLog) -> None:
    """No clock is in it: the same question spends as much in every run."""

    def spent(candidates: Sequence[Candidate]) -> GradedPassages:
        raise BudgetSpent("no call is left")

    service = a_service(corpus, runs, grader=FakeGrader(spent))
    ran = (await records_of(service, MOON))["corrective", "moon"].ran
    assert ran is not None
    assert (ran.outcome, ran.reason) == ("refused", "budget")


async def test_an_interrupted_evaluation_leaves_the_records_it_had(
    corpus: OpenCorpus, runs: RunLog, tmp_path: Path
) -> None:
    """They are no verdict: the gate calls such a folder incomplete."""
    file = tmp_path / "records.jsonl"
    tasks: list[asyncio.Task[list[Record]]] = []

    def graded(candidates: Sequence[Candidate]) -> GradedPassages:
        if len(read_records(file)) == 4:
            tasks[0].cancel()
        return GradedPassages([a_grade("correct") for _ in candidates])

    service = a_service(corpus, runs, grader=FakeGrader(graded))
    tasks.append(asyncio.create_task(run_and_keep(service, [REFUNDS, LEAVE, MOON], file)))
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    keys = [record.key for record in read_records(file)]
    assert keys == [(p, q) for q in ("refunds", "leave") for p in PIPELINES]
    with pytest.raises(Incomplete, match=r"has no metrics\.json: the run did not end"):
        read_results(tmp_path)


async def test_each_record_is_in_the_file_before_the_next_question(
    corpus: OpenCorpus, runs: RunLog, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    seen: list[int] = []

    def graded(candidates: Sequence[Candidate]) -> GradedPassages:
        seen.append(len(read_records(file)))
        return GradedPassages([a_grade("correct") for _ in candidates])

    service = a_service(corpus, runs, grader=FakeGrader(graded))
    await run_and_keep(service, [REFUNDS, LEAVE, MOON], file)
    assert seen == [0, 2, 4]


async def test_a_reranker_that_fails_is_in_the_record(corpus: OpenCorpus, runs: RunLog) -> None:
    service = a_service(corpus, runs, reranker=FakeReranker(RuntimeError("no")))
    ran = (await records_of(service, REFUNDS))["corrective", "refunds"].ran
    assert ran is not None
    assert ran.outcome == "answered"
    assert ran.degraded == ["rerank: RuntimeError"]


async def test_an_outage_that_refuses_is_not_a_right_refusal(
    corpus: OpenCorpus, runs: RunLog
) -> None:
    """PITFALL: an outage passes inverse checks; an error is never a verdict."""
    index = Troubled(corpus.index, DependencyError("the store is gone"))
    found = await records_of(a_service(corpus, runs, index), MOON)
    assert found["corrective", "moon"].error == "dependency_down: retrieve: the store is gone"
    metrics = measure(list(found.values()), about={})
    assert metrics["errors"] == 2
    assert "refusal_recall" not in metrics["metrics"]["corrective"]


async def test_evaluations_are_not_in_the_log_of_runs(corpus: OpenCorpus, runs: RunLog) -> None:
    service = a_service(corpus, runs)
    await records_of(service, REFUNDS, MOON)
    assert await runs.recent(LOCAL) == []
    await service.runner.ask(Ask("When are refunds paid?", BASE))
    assert len(await runs.recent(LOCAL)) == 1


async def test_a_follow_up_is_asked_with_its_history(corpus: OpenCorpus, runs: RunLog) -> None:
    question = REFUNDS.model_copy(
        update={
            "question": "And how long does it take?",
            "history": [Exchange(question="When are refunds paid?", answer=QUOTE)],
        }
    )
    ran = (await records_of(a_service(corpus, runs), question))["corrective", "refunds"].ran
    assert ran is not None
    assert "refunds" in ran.trace[0]["summary"]["standalone"].lower()


async def test_the_web_is_not_searched(corpus: OpenCorpus, runs: RunLog) -> None:
    await corpus.writer.create_knowledge_base(LOCAL, "open", web=True)
    web = FakeWeb([])
    question = MOON.model_copy(update={"knowledge_base": "open"})
    service = a_service(corpus, runs, grader=FakeGrader(), web=web)
    await records_of(service, question)
    assert web.sent == []


async def test_labels_are_checked_before_anything_runs(corpus: OpenCorpus, runs: RunLog) -> None:
    stale = REFUNDS.model_copy(update={"relevant": [a_label("Refunds are paid at once.")]})
    with pytest.raises(StaleLabels, match="refunds: "):
        await records_of(a_service(corpus, runs), LEAVE, stale)


@pytest.mark.parametrize(("named", "said"), [("nope", "'nope'"), ("", "'no knowledge base'")])
async def test_a_base_that_is_not_there_is_named_with_those_that_are(
    corpus: OpenCorpus, runs: RunLog, named: str, said: str
) -> None:
    question = REFUNDS.model_copy(update={"knowledge_base": named})
    with pytest.raises(ConfigurationError, match=f"refunds names {said}; there are: kb"):
        await records_of(a_service(corpus, runs), question)


def test_what_makes_runs_differ_is_switched_off_and_nothing_else() -> None:
    settings = GraphSettings(retrieve=RetrieveSettings(candidates=7))
    made = deterministic(settings)
    assert made.retrieve == RetrieveSettings(candidates=7, exact=True)
    assert made.budget == settings.budget.model_copy(update={"deadline_s": None})
    assert not made.cache.enabled
    assert made.query == settings.query.model_copy(update={"kept_s": 0})
    same = {"retrieve", "budget", "cache", "query"}
    assert made.model_dump(exclude=same) == settings.model_dump(exclude=same)
    assert settings.budget.deadline_s is not None


async def test_a_watch_sees_each_step_of_the_run(corpus: OpenCorpus, runs: RunLog) -> None:
    states: list[State] = []
    runner = a_service(corpus, runs).runner
    answer = await runner.ask(Ask("When are refunds paid?", BASE), watch=states.append)
    assert [len(state.trace) for state in states] == list(range(len(answer.trace) + 1))
    assert states[-1].trace == answer.trace
    assert states[-1].outcome == answer.outcome == "answered"
    assert {state.question for state in states} == {"When are refunds paid?"}


async def test_a_watched_run_answers_as_one_that_nobody_watches(
    corpus: OpenCorpus, runs: RunLog
) -> None:
    runner = a_service(corpus, runs).runner
    watched = await runner.ask(Ask("When are refunds paid?", BASE), watch=lambda state: None)
    alone = await runner.ask(Ask("When are refunds paid?", BASE, logged=False))
    assert (watched.answer, watched.citations) == (alone.answer, alone.citations)
    assert [run["run_id"] for run in await runs.recent(LOCAL)] == [watched.run_id]
