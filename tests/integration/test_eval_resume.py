"""`crag eval run --sample --resume` on a real index: what is asked again, and what is kept."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

import eval.evaluate as evaluating
from eval.datasets import sampled
from eval.evaluate import Evaluation, chosen, evaluate
from eval.golden import GoldenQuestion
from eval.records import Record, read_records, write_records
from graph.builder import build
from graph.compose import Service
from graph.run_log import RunLog
from graph.runner import Runner
from graph.settings import BudgetSettings, ChatSettings, GraphSettings, QuerySettings
from ingest.documents import Candidate
from ingest.errors import ConfigurationError
from ingest.scope import LOCAL
from nodes.ports import GradedPassages
from tests.corpus import OpenCorpus, open_corpus
from tests.fakes import FakeGrader, HashingEmbedder, a_grade, a_run_log
from tests.golden_records import QUOTE, a_label, a_question, a_record, a_run
from tests.runs import ports

SETTINGS = GraphSettings(budget=BudgetSettings(rewrites=1))
QUESTIONS = [a_question(f"q{n}", question=f"When are refunds of order {n} paid?") for n in range(6)]


def written(file: Path, questions: Sequence[GoldenQuestion] = QUESTIONS) -> Path:
    lines = [question.model_dump_json() for question in questions]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@dataclass
class World:
    """An evaluation's folder; `asked` are the questions that its runs put to the grader."""

    path: Path
    golden: Path
    asked: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    async def run(self, out: str = "out", settings: GraphSettings = SETTINGS, **more: Any) -> Any:
        self.asked.clear()
        golden = more.pop("golden", self.golden)
        return await evaluate(settings, Evaluation(golden, self.path / out, **more))

    def file(self, name: str = "records.jsonl", out: str = "out") -> Path:
        return self.path / out / name

    def lines(self, out: str = "out") -> list[bytes]:
        return self.file(out=out).read_bytes().splitlines(keepends=True)


@pytest.fixture
async def corpus(store_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(store_path / "crag", embedder) as corpus:
        await corpus.upload("refunds.md", f"# Refunds\n\n{QUOTE}\n")
        yield corpus


@pytest.fixture
def world(
    corpus: OpenCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    world = World(tmp_path, written(tmp_path / "golden.jsonl"))
    runs: RunLog = a_run_log()

    def graded(candidates: Sequence[Candidate]) -> GradedPassages:
        if grader.questions[-1] in world.broken:
            raise RuntimeError("no")
        return GradedPassages([a_grade("correct") for _ in candidates])

    grader = FakeGrader(graded)

    @asynccontextmanager
    async def opened(settings: GraphSettings) -> AsyncIterator[Service]:
        services = ports(index=corpus.index, grader=grader)
        graph = build(services, InMemorySaver())
        runner = Runner(
            graph=graph, index=corpus.index, bases=corpus.bases, runs=runs, settings=settings,
            calibration="c1",
        )  # fmt: skip
        grader.questions = world.asked
        yield Service(runner, graph, corpus.corpus, runs, services, settings)

    monkeypatch.setattr(evaluating, "open_graph", opened)
    yield world
    runs.close()


def without_times(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metrics.items() if name != "latency_ms"}


def timeless(record: Record) -> Record:
    ran = record.ran and record.ran.model_copy(update={"total_ms": 0, "node_ms": {}, "trace": []})
    return record.model_copy(update={"ran": ran})


@pytest.mark.parametrize(
    ("cut", "half"),
    [(0, ""), (1, "a line"), (6, "a character"), (11, ""), (12, "a line")],
)
async def test_only_what_lacks_is_asked_and_all_is_as_without_the_interruption(
    world: World, cut: int, half: str
) -> None:
    whole = await world.run("whole")
    assert len(world.asked) == len(QUESTIONS)
    await world.run()
    lines = world.lines()
    torn = {"": b"", "a line": b'{"pipeline":"corr', "a character": '{"é'.encode()[:-1]}[half]
    world.file().write_bytes(b"".join(lines[:cut]) + torn)
    metrics = await world.run(resume=True)
    assert world.asked == [q.question for q in QUESTIONS[(cut + 1) // 2 :]]
    assert world.lines()[:cut] == lines[:cut]
    assert without_times(metrics) == without_times(whole)
    assert json.loads(world.file("metrics.json").read_text()) == metrics
    first, second = (
        [timeless(one) for one in read_records(world.file(out=out))] for out in ("whole", "out")
    )
    assert first == second


async def test_what_erred_is_asked_again_and_nothing_else(world: World) -> None:
    whole = await world.run("whole")
    world.broken = {QUESTIONS[2].question}
    before = await world.run()
    lines = world.lines()
    world.broken = set()
    after = await world.run(resume=True)
    assert (before["errors"], world.asked) == (1, [QUESTIONS[2].question])
    assert [line for n, line in enumerate(world.lines()) if n != 4] == [
        line for n, line in enumerate(lines) if n != 4
    ]
    assert without_times(after) == without_times(whole)


async def test_a_larger_sample_goes_on_and_a_smaller_one_asks_nothing(world: World) -> None:
    await world.run(sample=2)
    kept = set(world.lines())
    whole = await world.run("whole")
    more = await world.run(sample=5, resume=True)
    assert len(world.asked) == 3 and more["n"] == 5
    assert kept < set(world.lines())
    assert (await world.run(sample=6, resume=True))["metrics"].keys() == whole["metrics"].keys()
    assert len(world.asked) == 1
    assert (await world.run(sample=3, resume=True))["n"] == 3
    assert world.asked == []


async def test_a_larger_sample_may_ask_another_base(world: World, corpus: OpenCorpus) -> None:
    await corpus.writer.create_knowledge_base(LOCAL, "empty")
    elsewhere = a_question("moon", knowledge_base="empty", answerable=False)
    written(world.golden, [*QUESTIONS, elsewhere])
    await world.run(limit=6)
    kept = world.lines()
    assert (await world.run(resume=True))["n"] == 7
    assert (world.asked, world.lines()[:12], len(world.lines())) == ([], kept, 14)


CHANGED: dict[str, GraphSettings] = {
    "an option of the run": SETTINGS.model_copy(update={"budget": BudgetSettings(rewrites=2)}),
    "how queries are made": SETTINGS.model_copy(update={"query": QuerySettings(step_back=True)}),
    "the small chat model": SETTINGS.model_copy(
        update={"chat": ChatSettings(lite_model="openai:small")}
    ),
}


@pytest.mark.parametrize("what", CHANGED)
async def test_records_of_other_settings_are_refused_and_left(world: World, what: str) -> None:
    await world.run()
    await refused(world, settings=CHANGED[what])


async def refused(world: World, **more: Any) -> None:
    """In one sentence that says what to do; nothing was asked, and no result is lost."""
    names = ("records.jsonl", "asked.json", "metrics.json", "report.md", "report.html")
    before = {name: world.file(name).read_bytes() for name in names}
    with pytest.raises(
        ConfigurationError,
        match=r"records\.jsonl is of another .* version .*; "
        "run without --resume to begin again",
    ):
        await world.run(resume=True, **more)
    assert world.asked == []
    assert {name: world.file(name).read_bytes() for name in names} == before


async def test_records_of_another_golden_set_are_refused(world: World) -> None:
    await world.run()
    changed = QUESTIONS[0].model_copy(update={"question": "When is it paid?"})
    await refused(world, golden=written(world.path / "other.jsonl"))
    written(world.golden, [changed, *QUESTIONS[1:]])
    await refused(world)


async def test_records_of_another_base_or_version_are_refused(
    world: World, corpus: OpenCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    await corpus.writer.create_knowledge_base(LOCAL, "other")
    written(world.golden, [a_question("moon", answerable=False)])
    await world.run()
    await refused(world, knowledge_base="other")
    monkeypatch.setattr(evaluating, "PIPELINE_VERSION", "another")
    await refused(world)


async def test_records_of_other_documents_are_refused(world: World, corpus: OpenCorpus) -> None:
    await world.run()
    await corpus.upload("more.md", "# More\n\nMore is written here.\n")
    await refused(world)


async def test_more_patience_with_the_chat_model_is_no_other_setting(world: World) -> None:
    await world.run()
    patient = ChatSettings(timeout_s=600, retries=5)
    await world.run(resume=True, settings=SETTINGS.model_copy(update={"chat": patient}))
    assert world.asked == []


async def test_records_that_nobody_can_name_are_refused(world: World) -> None:
    await world.run()
    for broken in ('{"golden"', "[]"):
        world.file("asked.json").write_text(broken)
        await refused(world)


async def test_a_broken_line_in_the_middle_is_named(world: World) -> None:
    await world.run()
    lines = world.lines()
    world.file().write_bytes(b"".join([*lines[:3], b'{"half\n', *lines[4:]]))
    with pytest.raises(ConfigurationError, match=r"records\.jsonl:4: no record"):
        await world.run(resume=True)


async def test_without_resume_it_begins_again(world: World) -> None:
    await world.run()
    await world.run()
    assert len(world.asked) == len(QUESTIONS)


@given(st.permutations(QUESTIONS), st.integers(1, 8))
def test_a_sample_does_not_depend_on_the_order(rows: list[GoldenQuestion], size: int) -> None:
    one, other = sampled(rows, size), sampled(QUESTIONS, size)
    assert one == other and len(one) == min(size, len(QUESTIONS))
    assert sampled(rows, size + 1)[:size] == one
    assert sampled(rows, None) == rows


def test_the_questions_of_a_sample_are_those_of_its_file(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl")
    other = written(tmp_path / "other.jsonl", QUESTIONS[::-1])
    assert chosen(Evaluation(one, tmp_path, sample=4)) == chosen(
        Evaluation(other, tmp_path, sample=4)
    )


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(st.text(max_size=20), st.lists(floats, max_size=4), floats)
def test_a_record_that_is_read_is_written_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, text: str, numbers: list[float], ms: float
) -> None:
    file = tmp_path_factory.getbasetemp() / "records.jsonl"
    ran = a_run(answer=text, trace=[{"numbers": numbers, "text": text}], total_ms=ms)
    write_records(file, [a_record("naive", a_question(relevant=[a_label()]), ran)])
    before = file.read_bytes()
    write_records(file, read_records(file))
    assert file.read_bytes() == before
