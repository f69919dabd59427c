"""eval/ragas_run.py without ragas: what it reads, what it counts, and when it says no."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval import ragas_report, ragas_run
from eval.ragas_report import METRICS, Misconfigured, Sample
from eval.ragas_run import Scorer

ANSWERED = {
    "outcome": "answered",
    "answer": "- 16 weeks. [1]",
    "sentences": [{"text": "16 weeks."}],
    "passages": ["Leave is 16 weeks."],
}
REFUSED = {"outcome": "refused", "answer": "I do not know.", "passages": ["Leave is 16 weeks."]}


def row(id: str, ran: Any, pipeline: str = "corrective", **golden: Any) -> dict[str, Any]:
    asked = {"id": id, "question": "How long?", "answerable": True, "answer": "16 weeks"}
    return {"pipeline": pipeline, "golden": asked | golden, "ran": ran}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return folder


def figures(folder: Path, scorer: Scorer) -> dict[str, Any]:
    samples = ragas_report.read_samples(folder)
    scores = asyncio.run(ragas_run.score(samples, dict.fromkeys(METRICS, scorer)))
    return ragas_report.report(samples, scores, {"judge": "fake"}, {})


async def half(sample: Sample) -> float:
    return 0.5


def test_a_record_becomes_what_ragas_is_shown(tmp_path: Path) -> None:
    before = [{"question": "Is there leave?", "answer": "Yes."}]
    [sample] = ragas_report.read_samples(written(tmp_path, row("a", ANSWERED, history=before)))
    assert sample.answer == "16 weeks."
    assert sample.question == "How long?"
    assert sample.conversation == "Is there leave?\nYes.\nHow long?"
    assert sample.passages == ("Leave is 16 weeks.",)


def test_limit_counts_questions_of_each_pipeline(tmp_path: Path) -> None:
    rows = [row(i, ANSWERED, pipeline) for i in "abc" for pipeline in ("corrective", "naive")]
    taken = ragas_report.read_samples(written(tmp_path, *rows), limit=2)
    assert [(s.id, s.pipeline) for s in taken] == [
        (i, pipeline) for i in "ab" for pipeline in ("corrective", "naive")
    ]


def test_only_what_applies_is_judged(tmp_path: Path) -> None:
    """A refusal has no answer to judge, an unanswerable question no reference."""
    unanswerable = {"answerable": False, "answer": None}
    folder = written(
        tmp_path,
        row("a", ANSWERED),
        row("refused", REFUSED),
        row("wrong", ANSWERED, **unanswerable),
        row("right", REFUSED, **unanswerable),
    )
    for counts in figures(folder, half)["metrics"]["corrective"].values():
        assert counts == {"mean": 0.5, "n": 2, "failed": 0, "not_applicable": 2}


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1.5, -2.0, RuntimeError("no\x1b[2J")])
def test_what_failed_is_counted_and_in_no_mean(tmp_path: Path, bad: float | RuntimeError) -> None:
    async def scorer(sample: Sample) -> float:
        if sample.id == "a":
            return 0.25
        if isinstance(bad, RuntimeError):
            raise bad
        return bad

    found = figures(written(tmp_path, row("a", ANSWERED), row("b", ANSWERED)), scorer)
    for counts in found["metrics"]["corrective"].values():
        assert counts == {"mean": 0.25, "n": 1, "failed": 1, "not_applicable": 0}
    assert "| corrective | faithfulness | 0.250 | 1 | 1 | 0 |" in ragas_report.markdown(found)
    assert "\x1b" not in ragas_report.markdown(found)
    json.dumps(found, allow_nan=False)


def test_a_run_that_failed_or_found_nothing_is_a_failure(tmp_path: Path) -> None:
    failed = row("a", None) | {"error": "the store is gone"}
    found = figures(written(tmp_path, failed, row("b", REFUSED | {"passages": []})), half)
    none = {"mean": None, "n": 0, "failed": 1, "not_applicable": 1}
    assert found["metrics"]["corrective"]["faithfulness"] == none
    assert found["metrics"]["corrective"]["context_recall"]["failed"] == 2
    assert "2 × no passage to judge" in ragas_report.markdown(found)
    assert "the store is gone" in ragas_report.markdown(found)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pipeline": "naive"}', "null"])
def test_what_is_no_run_is_an_error_of_configuration(tmp_path: Path, text: str) -> None:
    (tmp_path / "records.jsonl").write_text(text)
    with pytest.raises(Misconfigured, match="crag eval run"):
        ragas_report.read_samples(tmp_path)


def test_without_a_folder_or_a_model_it_exits_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert ragas_run.main([str(tmp_path / "none")]) == 2
    assert "crag eval run" in capsys.readouterr().err
    assert ragas_run.main([str(written(tmp_path, row("a", ANSWERED)))]) == 2
    assert "CRAG_CHAT__MODEL is not set" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        ragas_run.main([str(tmp_path), "--limit", "0"])


def test_the_judge_is_the_model_of_the_settings() -> None:
    own = {"CRAG_CHAT__MODEL": "openai:llama3:8b", "CRAG_CHAT__BASE_URL": "http://127.0.0.1:1/v1"}
    assert ragas_run.judge_of(own).model == "llama3:8b"
    for wrong in (
        {"CRAG_CHAT__MODEL": "anthropic:claude", "CRAG_CHAT__API_KEY": "k"},
        {"CRAG_CHAT__MODEL": "openai:"},
        {"CRAG_CHAT__MODEL": "openai:gpt-5-mini"},
    ):
        with pytest.raises(Misconfigured, match="CRAG_CHAT__"):
            ragas_run.judge_of(wrong)


def test_it_imports_nothing_of_the_service_and_no_ragas() -> None:
    asks = (
        "import sys, eval.ragas_run; print([m for m in sys.modules if m.split('.')[0] in "
        "('ingest', 'nodes', 'graph', 'api', 'pydantic', 'ragas', 'openai')])"
    )
    ran = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
