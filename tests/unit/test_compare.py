"""Two runs side by side: metrics with intervals, and the questions that turned."""

import json
from pathlib import Path

import pytest

from eval.baseline import from_results
from eval.changes import changes
from eval.compare import compare, lines
from eval.records import Ran, Record
from eval.results import Results
from tests.gate_runs import a_whole_run, written
from tests.golden_records import a_refusal, a_run


def run(folder: Path, **changed: Ran | None) -> Results:
    return written(folder, a_whole_run(changed))


def test_the_same_runs_differ_in_nothing(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a"), run(tmp_path / "b")
    found = compare(first.rows, second, origin=first.origin)
    assert (found["n"], found["only"]) == (20, {"before": 0, "after": 0})
    assert (found["lost"], found["won"], found["notes"]) == ([], [], [])
    assert {x["difference"] for section in found["changes"].values() for x in section.values()} == {
        0.0
    }


def test_what_fell_and_who_turned_is_said(tmp_path: Path) -> None:
    first = run(tmp_path / "a", a0=a_refusal())
    second = run(tmp_path / "b", a1=a_refusal(), u0=a_run())
    found = json.loads(json.dumps(compare(first.rows, second, origin=first.origin)))
    wrong = found["changes"]["metrics"]["answered_wrong"]
    assert (wrong["before"], wrong["after"], wrong["difference"], wrong["n"]) == (0, 0.05, 0.05, 20)
    assert wrong["interval"][0] <= 0.05 <= wrong["interval"][1]
    assert [one["id"] for one in found["lost"]] == ["a1", "u0"]
    assert [one["id"] for one in found["won"]] == ["a0"]
    assert set(found["changes"]) == {
        "metrics",
        *(f"stages.{stage}" for stage in ("retrieved", "reranked", "graded", "corrected")),
    }


def test_lines_show_the_main_metrics_and_what_moved(tmp_path: Path) -> None:
    first = run(tmp_path / "a")
    second = run(tmp_path / "b", u0=a_run())
    said = lines(compare(first.rows, second, origin=first.origin))
    assert said[0] == "20 questions in both; 0 only before, 0 only after"
    text = "\n".join(said)
    assert "metrics: answered_wrong" in text
    assert "+0.0500" in text
    assert "metrics: refusal_recall" in text
    assert "metrics: hit@3" not in text
    assert "no longer right (1):\n  u0  When are refunds paid, asked by u0?  -> answered" in text


def fewer(folder: Path) -> Results:
    kept: list[Record] = [r for r in a_whole_run() if r.golden.id != "a0"]
    return written(folder, kept)


def test_only_questions_of_both_are_compared_and_the_others_counted(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a"), fewer(tmp_path / "b")
    found = compare(first.rows, second, origin=first.origin)
    assert (found["n"], found["only"]) == (19, {"before": 1, "after": 0})
    assert found["changes"]["metrics"]["correctness"]["n"] == 9


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"index_version": "v2"}, "the index was v1, it is v2"),
        (
            {"golden": {"file": "g.jsonl", "sha256": "1" * 64, "split": None}},
            "the golden sets differ",
        ),
    ],
)
def test_what_else_differs_is_noted(tmp_path: Path, about: dict[str, object], said: str) -> None:
    first, second = run(tmp_path / "a"), written(tmp_path / "b", a_whole_run(), **about)
    (note,) = compare(first.rows, second, origin=first.origin)["notes"]
    assert said in note


def test_an_incomplete_run_is_compared_and_noted(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a"), run(tmp_path / "b", u0=None)
    found = compare(first.rows, second, origin=first.origin)
    assert found["notes"] == ["u0 (corrective): x: broke"]


def test_a_baseline_compares_as_the_run_it_was_made_of(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", a0=a_refusal()), run(tmp_path / "b")
    baseline = from_results(first)
    by_file = compare(baseline.rows, second, origin=baseline)
    by_run = compare(first.rows, second, origin=first.origin)
    for name in ("n", "only", "notes", "lost", "won"):
        assert by_file[name] == by_run[name]
    for name, change in by_file["changes"]["metrics"].items():
        assert change == by_run["changes"]["metrics"][name]


def test_changes_are_paired_by_id_whatever_the_order() -> None:
    before = {"a": {"RR": 1.0}, "b": {"RR": 0.0}, "c": {"RR": 1.0}}
    after = {"b": {"RR": 0.0}, "a": {"RR": 1.0}, "d": {"RR": 0.0}}
    change = changes(before, after)["RR"]
    assert (change.before, change.after, change.difference, change.n) == (0.5, 0.5, 0.0, 2)
    assert change.interval == (0.0, 0.0)
    assert changes({}, after) == {}
