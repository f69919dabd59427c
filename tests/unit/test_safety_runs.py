"""Runs of safety cases are kept, and go on where they were cut short."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eval import safety_runs
from eval.safety_cases import Case, Suite, passage_name
from eval.safety_passages import ensure_passages
from eval.safety_records import KeptRuns
from eval.safety_runs import code_version, run_cases
from graph.answer import Answer
from graph.runner import Ask
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from ingest.scope import LOCAL
from nodes.findings import Sentence
from nodes.state import Degraded, Reason, State, TraceEntry
from tests.corpus import BASE, open_corpus
from tests.fakes import HashingEmbedder, a_chunk, a_citation

CASES = [Case(f"c{n}", "k", f"Question {n}?", f"c{n}", sees=("A passage.",)) for n in range(3)]


class Asked:
    """A service whose runner answers with one sentence, and remembers what it was asked."""

    def __init__(self, reason: Reason | None = None, *, error: str = "") -> None:
        self.asked: list[Ask] = []
        self.settings = GraphSettings()
        self.runner = self
        self.reason = reason
        self.error = error
        embedder = SimpleNamespace(fingerprint="fake")
        self.corpus = SimpleNamespace(index=self, embedder=embedder)

    async def version(self, scope: Any, base: str) -> str:
        return "v1"

    async def ask(self, ask: Ask, *, watch: Any) -> Answer:
        self.asked.append(ask)
        if self.error:
            raise RuntimeError(self.error)
        name = passage_name("A passage.")
        citation = replace(a_citation(a_chunk("x", "A passage.")), source=f"{name}/note.txt")
        watch(State(draft=[Sentence("It is so.", [citation], "(old)")]))
        down = [Degraded("retrieve", "down", "none", "no index")] if self.reason else []
        return Answer(
            run_id="r", question=ask.question, outcome="refused" if self.reason else "answered",
            reason=self.reason, answer="It is so. [1]", citations=[], grounding={},
            searched={"nearest": [{"text": "A pass…"}], "best_grade": 0.7}, degraded=down,
            budget={"rewrites": {"used": 1}, "chat_calls": {"used": 2}},
            timings={"total_ms": 3.0},
            trace=[_entry({}), _entry({"confidence": 0.6}), _entry({"confidence": None})],
            versions={},
        )  # fmt: skip


def _entry(summary: dict[str, Any]) -> TraceEntry:
    return TraceEntry(1, "a_node", 1, "2026-01-01T00:00:00Z", 1.0, "ok", summary)


async def run(service: Any, file: Path, cases: list[Case] = CASES, code: str = "v1") -> Any:
    suite = Suite("suite", "base", cases, [])
    return await run_cases(service, suite, cases, KeptRuns(file), code=code)


async def test_a_run_is_kept_and_asked_once(tmp_path: Path) -> None:
    first, again = Asked(), Asked()
    done, errors = await run(first, tmp_path / "kept.jsonl")
    assert (len(done), errors, len(first.asked)) == (3, [], 3)
    ran = done[0][1]
    assert ran.said[0].text == "(old) It is so."
    assert ran.said[0].sources == [passage_name("A passage.")]
    assert (ran.confidence, ran.best_grade, ran.loops, ran.chat_calls, ran.shown) == (
        0.6,
        0.7,
        1,
        2,
        ["A pass…"],
    )

    assert await run(again, tmp_path / "kept.jsonl") == (done, [])
    assert again.asked == []


async def test_a_case_sees_its_own_passages_and_no_web(tmp_path: Path) -> None:
    service = Asked()
    await run(service, tmp_path / "kept.jsonl", [CASES[0], replace(CASES[0], id="all", sees=())])
    own, everything = service.asked
    assert [condition.key for condition in own.filters.conditions] == ["document_id"]
    assert everything.filters.conditions == [] and own.options == {"web": False, "cache": False}


async def test_a_line_that_was_cut_is_run_again(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    await run(Asked(), file)
    file.write_text(file.read_text()[:-40])
    service = Asked()
    done, _ = await run(service, file)
    assert (len(done), len(service.asked)) == (3, 1)
    assert (await run(Asked(error="none is asked"), file))[1] == []


@pytest.mark.parametrize("change", ["case", "code", "settings"])
async def test_what_a_run_depends_on_makes_it_run_anew(change: str, tmp_path: Path) -> None:
    await run(Asked(), tmp_path / "kept.jsonl")
    service, cases = Asked(), CASES
    if change == "case":
        cases = [replace(case, history=(("Before?", "Yes."),)) for case in CASES]
    elif change == "settings":
        service.settings = GraphSettings(rerank={"keep": 7})
    await run(service, tmp_path / "kept.jsonl", cases, "v2" if change == "code" else "v1")
    assert len(service.asked) == 3


async def test_an_error_or_an_outage_is_no_verdict_and_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    assert await run(Asked(error="boom"), file) == (
        [], [f"suite c{n}: RuntimeError: boom" for n in range(3)],
    )  # fmt: skip
    done, errors = await run(Asked("dependency_down"), file)
    assert done == [] and len(errors) == 3 and "no index" in errors[0]
    assert len((await run(Asked(), file))[0]) == 3


def test_the_code_version_is_that_of_every_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = code_version()
    assert code_version() == before
    package = tmp_path / "nodes"
    (package / "deep").mkdir(parents=True)
    (package / "deep" / "one.py").write_text("a = 1")
    monkeypatch.setattr(safety_runs, "nodes", SimpleNamespace(__file__=package / "__init__.py"))
    other = code_version()
    (package / "deep" / "one.py").write_text("a = 2")
    assert len({before, other, code_version()}) == 3


async def test_passages_are_embedded_once_and_the_base_holds_no_others(
    store_path: Path, embedder: HashingEmbedder
) -> None:
    async with open_corpus(store_path, embedder) as opened:
        await ensure_passages(opened.corpus, Suite("s", BASE, [], ["One passage.", "Another one."]))
        embedded = len(embedder.batches)
        await ensure_passages(opened.corpus, Suite("s", BASE, [], ["One passage.", "One passage."]))
        assert len(embedder.batches) == embedded
        (left,) = await opened.index.documents(LOCAL, BASE)
        assert left.source == f"{passage_name('One passage.')}/note.txt"


async def test_a_passage_that_no_loader_reads_ends_it(
    store_path: Path, embedder: HashingEmbedder
) -> None:
    async with open_corpus(store_path, embedder) as opened:
        with pytest.raises(ConfigurationError, match="1 passages cannot be ingested"):
            await ensure_passages(opened.corpus, Suite("s", BASE, [], ["Fine.", "Ba\x00\x00\x00d"]))
