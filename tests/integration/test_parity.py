"""One answer object on every way in: HTTP, its stream, the command line, the runner, Studio."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

import crag
from api.settings import Settings
from graph.answer import answer_from
from graph.asking import ask_here
from graph.builder import build, recursion_limit
from graph.compose import Service
from graph.options import options_with_defaults
from graph.runner import Ask, Runner
from ingest.data_folder import DataFolder, Holder
from ingest.pipeline import ingest_upload
from ingest.scope import LOCAL
from nodes.ports import GradedPassages
from nodes.state import State
from tests.api_clients import served, settings_on
from tests.api_fakes import FakeEmbedder, FakeService, small_corpus
from tests.fakes import FakeGrader, QuotingGenerator, Staged, a_grade, a_run_log
from tests.runs import ports

BASE = "kb"
DOCUMENTS = {
    "five.md": "Refunds take five days.",
    "card.md": "They go to the card.",
    "nine.md": "Swaps take nine days, as some say.",
}
NOWHERE = "Who is the head of the choir?"
QUESTIONS = {
    "How long do refunds take?": "answered",
    "How long are swaps, as some say?": "answered_partially",
    "Why are refunds refused?": "refused",
    "How much does it cost?": "needs_clarification",
    "What is 2 + 3?": "no_retrieval",
    "and?": "needs_clarification",
    f"How long do refunds take? {NOWHERE}": "answered_partially",
}
CHANGES = ("run_id", "timings")
"""What differs from run to run, beside the times of the trace."""


class SmallService:
    """The real runner on a small corpus; one sentence waits for a check, and fails it."""

    def __call__(
        self, settings: Any, holder: Holder | None = None
    ) -> AbstractAsyncContextManager[Service]:
        return self._open(settings, holder)

    @asynccontextmanager
    async def _open(self, settings: Settings, holder: Holder | None) -> AsyncIterator[Service]:
        folder = DataFolder(settings.data_dir, holder)
        corpus = small_corpus(folder, FakeEmbedder())
        await corpus.writer.create_knowledge_base(LOCAL, BASE)
        for name, text in DOCUMENTS.items():
            await ingest_upload(
                name,
                text.encode(),
                scope=LOCAL,
                knowledge_base=BASE,
                index=corpus.index,
                writer=corpus.writer,
            )
        services = ports(
            index=corpus.index,
            grader=ByQuestion(),
            generator=QuotingGenerator(),
            checker=Staged("card", fails=["card"]),
        )
        runs, graph = a_run_log(), build(services)
        runner = Runner(
            graph=graph,
            index=corpus.index,
            bases=corpus.bases,
            runs=runs,
            settings=settings,
            calibration="none",
        )
        try:
            yield Service(runner, graph, corpus, runs, services, settings)
        finally:
            runs.close()
            folder.close()


class ByQuestion(FakeGrader):
    async def grade(self, question: str, candidates: Any, **more: Any) -> GradedPassages:
        verdict = {"H": "correct", "W": "incorrect"}[question[0]]
        verdict = "ambiguous" if "some say" in question else verdict
        return GradedPassages([a_grade(verdict) for _ in candidates])


def same(answer: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in answer.items() if key not in CHANGES}
    trace = [{k: v for k, v in e.items() if k not in ("ms", "started_at")} for e in kept["trace"]]
    return cast(dict[str, Any], json.loads(json.dumps(kept | {"trace": trace})))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("parity")
    with served(settings_on(folder), cast(FakeService, SmallService())) as url:
        yield folder / "crag", url


def streamed(url: str, body: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The deltas, and the answer event."""
    deltas, name = [], ""
    with httpx.stream("POST", f"{url}/v1/ask/stream", json=body, trust_env=False) as response:
        for line in response.iter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data" and name == "answer.delta":
                deltas.append(json.loads(value))
            elif field == "data" and name == "answer":
                answer = json.loads(value)
    return deltas, answer


async def here(settings: Settings, question: str) -> tuple[Any, Any]:
    """Through the runner of a service in this process, and through the graph as Studio opens it."""
    async with SmallService()(settings) as service:
        by_runner = await service.runner.ask(Ask(question, BASE))
        options = options_with_defaults(settings)
        graph = build(service.services, options=options)
        values = await graph.ainvoke(
            {"question": question, "knowledge_base": BASE},  # type: ignore[arg-type]
            config={"recursion_limit": recursion_limit(graph, options().rewrites)},
        )
        in_studio = answer_from(
            State(**values), options(), run_id="", versions=by_runner.versions, total_ms=0.0
        )
    return by_runner.as_json(), in_studio.as_json()


@pytest.mark.parametrize(("question", "outcome"), QUESTIONS.items())
def test_one_answer_on_every_way_in(
    folder: tuple[Path, str],
    tmp_path: Path,
    question: str,
    outcome: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data_dir, url = folder
    body = {"question": question, "knowledge_base": BASE}
    by_http = httpx.post(f"{url}/v1/ask", json=body, trust_env=False).json()
    assert by_http["outcome"] == outcome
    deltas, by_stream = streamed(url, body)

    monkeypatch.setenv("CRAG_DATA_DIR", str(data_dir))
    assert crag.run(["ask", question, "--kb", BASE, "--json"]) == 0
    through_server = json.loads(capsys.readouterr().out)

    by_runner, in_studio = asyncio.run(here(settings_on(tmp_path / "runner"), question))
    monkeypatch.setattr("graph.compose.open_graph", SmallService())
    alone = ask_here(settings_on(tmp_path / "alone"), question, BASE, None, {}, lambda entry: None)

    ways = [by_stream, through_server, by_runner, in_studio, alone]
    for way in ways:
        assert same(way) == same(by_http)
    ordered = [delta["text"] for delta in sorted(deltas, key=lambda delta: delta["index"])]
    assert ordered == by_http["answer"].splitlines()
    assert (f"I found nothing on: {NOWHERE}" in ordered) is (NOWHERE in question)


def test_a_run_that_dropped_a_sentence_streamed_the_others_alone(folder: tuple[Path, str]) -> None:
    question = "How long do refunds take?"
    deltas, answer = streamed(folder[1], {"question": question, "knowledge_base": BASE})
    assert answer["trace"][-1]["attempt"] == 2, "what failed was repaired once"
    assert "card" not in answer["answer"]
    assert len(deltas) == 2
