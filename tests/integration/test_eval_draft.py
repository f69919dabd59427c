"""`crag eval draft` as a user runs it, on a few documents of the handbook."""

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import crag
from eval.golden import GoldenQuestion, load_golden_set
from eval.relevance import relevant_chunks
from graph.answer import Answer
from ingest.compose import open_index
from ingest.scope import LOCAL
from ingest.settings import IndexSettings
from tests.fakes import a_run_log

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"
FILES = ("policies/refund-policy.md", "products/api-limits.html", "runbooks/sync-errors.md")


def crag_(*arguments: object) -> int:
    return crag.run([str(argument) for argument in arguments])


def a_refusal(question: str) -> Answer:
    parts: dict[str, Any] = {key: {} for key in ("grounding", "searched", "budget", "versions")}
    parts |= {"citations": [], "degraded": [], "trace": [], "timings": {"total_ms": 1.0}}
    return Answer("r1", question, "refused", "no_evidence", "I don't know", **parts)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("draft")
    for name in FILES:
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HANDBOOK / name, folder / "docs" / name)
    return folder


async def stored_labels(data_dir: Path, questions: list[GoldenQuestion]) -> dict[str, list[str]]:
    async with open_index(IndexSettings(data_dir=data_dir)) as corpus:
        return await relevant_chunks(corpus.index, LOCAL, "notes", questions)


async def log(data_dir: Path, question: str) -> None:
    runs = a_run_log(data_dir / "runs.sqlite")
    await runs.add(LOCAL, "notes", a_refusal(question))
    await runs.add(LOCAL, "another", replace(a_refusal("Of another base?"), run_id="r2"))
    runs.close()


def test_drafts_are_a_golden_set_with_labels_that_hold(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, out = data / "kept", data / "draft.jsonl"
    monkeypatch.setenv("CRAG_DATA_DIR", str(kept))
    assert crag_("ingest", data / "docs", "--kb", "notes") == 0
    monkeypatch.delenv("CRAG_DATA_DIR")
    capsys.readouterr()

    asked = ("eval", "draft", "--data-dir", kept, "--out", out, "--kb")
    assert crag_(*asked, "notes", "--limit", 9, "--json") == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (told["n"], told["answerable"], told["not_answerable"]) == (9, 6, 3)
    questions = load_golden_set(out)
    assert {q.split for q in questions} == {"dev"}
    assert all(q.note.startswith("drafted: check the wording") for q in questions)
    assert len({label.document for q in questions for label in q.relevant}) == len(FILES)
    found = asyncio.run(stored_labels(kept, questions))
    assert all(bool(found[q.id]) is q.answerable for q in questions)

    first = out.read_bytes()
    asyncio.run(log(kept, "How many patents are there?"))
    assert crag_(*asked, "notes", "--from-feedback") == 2
    assert "--force" in capsys.readouterr().err
    assert crag_(*asked, "nobody", "--force") == 1
    assert out.read_bytes() == first
    assert crag_(*asked, "notes", "--from-feedback", "--force") == 0
    (one,) = load_golden_set(out)
    assert (one.question, one.note) == ("How many patents are there?", "was refused: decide")
