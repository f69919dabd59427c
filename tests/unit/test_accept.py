"""`crag eval accept`: what becomes the baseline, and what is not overwritten by mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

import crag
from eval.baseline import read_baseline
from tests.gate_runs import ABOUT, a_whole_run, written
from tests.golden_records import a_refusal


def accept(run: Path, baseline: Path, *more: str) -> int:
    return crag.run(["eval", "accept", "--run", str(run), "--baseline", str(baseline), *more])


def a_run_of(folder: Path, **golden: Any) -> Path:
    written(folder, a_whole_run(), golden=ABOUT["golden"] | golden)
    return folder


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    """Of golden.jsonl, with one question that was answered wrong."""
    written(tmp_path / "first", a_whole_run({"a0": a_refusal()}))
    assert accept(tmp_path / "first", tmp_path / "baseline.json") == 0
    return tmp_path / "baseline.json"


def test_labels_that_were_edited_are_still_the_same_set(tmp_path: Path, baseline: Path) -> None:
    assert accept(a_run_of(tmp_path / "run", sha256="1" * 64), baseline) == 0
    assert read_baseline(baseline).golden.sha256 == "1" * 64


@pytest.mark.parametrize("other", [{"file": "notes.jsonl"}, {"split": "dev"}])
def test_the_baseline_of_another_set_stays_unless_forced(
    tmp_path: Path, baseline: Path, other: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    before, run = baseline.read_text(), a_run_of(tmp_path / "run", **other)
    capsys.readouterr()
    assert accept(run, baseline) == 2
    said = capsys.readouterr()
    assert baseline.read_text() == before
    assert "now right (1)" in said.out
    assert "of golden.jsonl" in said.err and "--force" in said.err
    assert accept(run, baseline, "--json") == 2
    assert json.loads(capsys.readouterr().out)["accepted"] is False
    assert accept(run, baseline, "--force") == 0
    assert read_baseline(baseline).golden.model_dump().items() >= other.items()


def test_a_set_of_other_questions_under_the_same_name_is_another_one(
    tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        record.model_copy(
            update={"golden": record.golden.model_copy(update={"id": f"new-{record.golden.id}"})}
        )
        for record in a_whole_run()
    ]
    written(tmp_path / "run", records)
    assert accept(tmp_path / "run", baseline) == 2
    assert "none of its questions" in capsys.readouterr().err
