"""`crag eval benchmark --follow-ups` and `--rewrites` by a chat model: what is asked, and kept."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import crag
import eval.benchmark
import eval.follow_ups
import eval.rewrites
import eval.standalone
from eval.benchmark_text import report_lines
from graph.compose import Service
from graph.settings import ChatSettings, GraphSettings
from ingest.errors import ConfigurationError, DependencyError
from nodes.state import Turn
from tests.corpus import OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder
from tests.runs import ports

DOCUMENTS = {
    "refunds": "Refunds for gateways are paid within five days.",
    "leave": "Parental leave lasts twelve weeks.",
    "lunch": "The canteen serves lunch at noon.",
    "badge": "Visitors wear a badge.",
}
FOLLOW_UPS = {
    "q1": ("And how long does that take?", "Do you pay refunds for gateways?", "refunds"),
    "q2": ("How long does it last?", "Is there parental leave?", "leave"),
    "q3": ("When is it served?", "Does the canteen serve lunch?", "lunch"),
}
ALONE = {asked: f"{before} {asked}" for asked, before, _ in FOLLOW_UPS.values()}
ASKED = [asked for asked, _, _ in FOLLOW_UPS.values()]


@dataclass
class Writer:
    """Puts the question before it in front; for the texts in `down` the server does not answer."""

    asked: list[str] = field(default_factory=list)
    down: set[str] = field(default_factory=set)

    async def standalone(self, question: str, history: Sequence[Turn]) -> str:
        self.asked.append(question)
        if question in self.down:
            raise DependencyError("no answer")
        return f"{history[-1].question} {question}"


@dataclass
class World:
    path: Path
    writer: Writer | None = field(default_factory=Writer)

    def settings(self, model: str | None = "openai:fake") -> GraphSettings:
        return GraphSettings(chat=ChatSettings(model=model), data_dir=self.path / "data")

    @property
    def kept(self) -> Path:
        return self.path / "data" / "standalone.jsonl"

    async def follow_ups(self, model: str | None = "openai:fake", **more: Any) -> Any:
        return await self._run(
            lambda: eval.follow_ups.benchmark_follow_ups(
                self.settings(model), self.folder(), "bm25", **more
            )
        )

    async def rewrites(self, **more: Any) -> Any:
        rows = [
            {"dataset": "qrecc", "id": f"{name}_1", "history": [before], "question": asked,
             "rewrite": ALONE[asked]}
            for name, (asked, before, _) in FOLLOW_UPS.items()
        ]  # fmt: skip
        file = self.path / "rewrites.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        return await self._run(
            lambda: eval.rewrites.benchmark_rewrites(self.settings(), file, **more)
        )

    async def _run(self, work: Callable[[], Any]) -> Any:
        if self.writer is not None:
            self.writer.asked.clear()
        return await work()

    def folder(self, word: Callable[[str], str] = str, history: bool = True) -> Path:
        """A BEIR folder with these questions, and one that has no history."""
        folder = self.path / "beir"
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        documents = [{"_id": i, "title": "", "text": text} for i, text in DOCUMENTS.items()]
        questions: list[dict[str, Any]] = [
            {
                "_id": name,
                "text": word(asked),
                "metadata": {"history": [{"role": "user", "content": before}] if history else []},
            }
            for name, (asked, before, _) in FOLLOW_UPS.items()
        ]
        judged = [(name, wanted) for name, (*_, wanted) in FOLLOW_UPS.items()]
        if history:
            questions.append({"_id": "plain", "text": "Who wears a badge?"})
            judged.append(("plain", "badge"))
        for name, rows in (("corpus", documents), ("queries", questions)):
            (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        lines = ["query-id\tcorpus-id\tscore", *(f"{a}\t{b}\t1" for a, b in judged)]
        (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")
        return folder


@pytest.fixture
async def corpus(store_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(store_path / "crag", embedder) as corpus:
        yield corpus


@pytest.fixture
def world(corpus: OpenCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path)

    @asynccontextmanager
    async def opened(settings: GraphSettings) -> AsyncIterator[Service]:
        services = ports(index=corpus.index, writer=world.writer)
        unused: Any = None
        yield Service(unused, unused, corpus.corpus, unused, services, settings)

    for module in (eval.benchmark, eval.follow_ups, eval.rewrites):
        monkeypatch.setattr(module, "open_graph", opened)
    # A thousand resamples of BLEU take seconds, and are measured elsewhere.
    monkeypatch.setattr(eval.rewrites, "clustered_interval", lambda *of: (0.0, 1.0))
    return world


@pytest.fixture(params=["follow_ups", "rewrites"])
def measure(world: World, request: pytest.FixtureRequest) -> Any:
    return getattr(world, request.param)


async def test_kept_texts_are_not_asked_for_again(world: World, measure: Any) -> None:
    first = await measure()
    assert world.writer and world.writer.asked == ASKED
    assert await measure() == first
    assert world.writer.asked == []


async def test_a_fall_back_is_counted_and_asked_again(world: World, measure: Any) -> None:
    assert world.writer
    world.writer.down = {ASKED[1]}
    report = await measure()
    assert report["fell_back"] == 1
    assert "  fell back          1, not worded by the chat model" in report_lines(report)
    world.writer.down = set()
    again = await measure()
    assert (again["fell_back"], world.writer.asked) == (0, [ASKED[1]])
    assert not any("fell back" in line for line in report_lines(again))


async def test_a_half_written_text_is_asked_again(world: World, measure: Any) -> None:
    await measure()
    world.kept.write_bytes(world.kept.read_bytes()[:-20])
    await measure()
    assert world.writer and world.writer.asked == ASKED[2:]
    await measure()
    assert world.writer.asked == []


async def test_both_keep_the_same_texts(world: World) -> None:
    await world.follow_ups()
    await world.rewrites()
    assert world.writer and world.writer.asked == []


async def test_another_model_or_prompt_words_its_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.follow_ups()
    await world.follow_ups("openai:other")
    assert world.writer and world.writer.asked == ASKED
    monkeypatch.setattr(eval.standalone, "PROMPT_VERSION", "next")
    await world.follow_ups()
    assert world.writer.asked == ASKED


async def test_another_conversation_is_another_text(world: World) -> None:
    writer = Writer()
    stand_alone = eval.standalone.StandAlone.of(writer, "m", world.path / "kept")
    one, other = [Turn("Is there leave?", "")], [Turn("Is there lunch?", "")]
    first = await stand_alone("How long is it?", one)
    assert (await stand_alone("How long is it?", other)).text != first.text
    assert await stand_alone("How long is it?", one) == first
    assert len(writer.asked) == 2


async def test_without_a_chat_model_nothing_is_kept(world: World) -> None:
    world.writer = None
    report = await world.follow_ups(None)
    assert (report["fell_back"], report["parts"]["chat_model"]) == (0, None)
    assert not world.kept.exists()


async def test_the_gain_is_that_of_the_worded_over_the_asked(world: World) -> None:
    """Each side by the plain benchmark, on questions that are written so."""
    report = await world.follow_ups()
    assert report["n"] == len(FOLLOW_UPS)  # one question has no history
    asked, alone = [
        (await eval.benchmark.benchmark(world.settings(), folder(), "bm25"))["metrics"]
        for folder in (
            lambda: world.folder(history=False),
            lambda: world.folder(ALONE.__getitem__, history=False),
        )
    ]
    assert report["metrics"] == alone
    gains = report["gain_over_as_asked"]["metrics"]
    assert gains == {name: pytest.approx(alone[name] - asked[name], abs=1e-4) for name in alone}
    assert alone["hit@1"] == 1.0 and gains["hit@1"] > 0


async def test_a_limit_and_a_sample_ask_so_many(world: World, measure: Any) -> None:
    assert (await measure(limit=2))["n"] == 2
    assert world.writer and world.writer.asked == ASKED[:2]
    assert (await measure(sample=1))["n"] == 1


async def test_what_cannot_be_measured_is_said(world: World) -> None:
    folder = world.folder(history=False)
    with pytest.raises(ConfigurationError, match=r"beir has no judged question with a history"):
        await eval.follow_ups.benchmark_follow_ups(world.settings(), folder, "bm25")
    with pytest.raises(ConfigurationError, match="whole runs make follow-ups stand alone"):
        await eval.follow_ups.benchmark_follow_ups(world.settings(), folder, "corrective")
    assert not world.kept.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--follow-ups", "--rewrites", "FILE"], "it is for --beir"),
        (["--follow-ups", "--claims", "FILE"], "it is for --beir"),
        (["--follow-ups"], "give exactly one of"),
        (["--follow-ups", "--beir", "FOLDER", "--rewrites", "FILE"], "give exactly one of"),
        (["--follow-ups", "--beir", "FOLDER", "--scorer", "service"], "it is for --claims"),
        (["--follow-ups", "--beir", "FOLDER", "--side", "open"], "unknown 'open'"),
        (["--follow-ups", "--beir", "FOLDER", "--pipeline", "corrective"], "by themselves"),
        (["--beir", "FOLDER", "--sample", "2"], "nor --beir alone"),
        (["--rewrites", "FILE", "--pipeline", "bm25"], "it is for --beir"),
        (["--near-misses", "FILE", "--limit", "2"], "not for --near-misses"),
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    places = {"FOLDER": str(World(tmp_path).folder()), "FILE": str(tmp_path / "rows.jsonl")}
    told = [places.get(option, option) for option in options]
    assert crag.run(["eval", "benchmark", *told, "--data-dir", str(tmp_path / "data")]) == 2
    captured = capsys.readouterr()
    assert said in " ".join(captured.err.replace("│", "").split())
    assert captured.out == ""
