"""The gate's verdict, threshold by threshold, on runs whose figures are known."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from eval.baseline import Baseline, as_text, from_results, read_baseline
from eval.gate import EXIT_CODES, Verdict, judge
from eval.metrics import measure
from eval.policy import Threshold
from eval.records import Record
from eval.relevance import StaleLabels
from eval.results import Incomplete, Results, read_results
from ingest.errors import ConfigurationError
from tests.gate_runs import ABOUT, a_whole_run, written
from tests.golden_records import a_cited, a_refusal, a_run, told

CORRECT = Threshold("metrics", "correctness", "drop", 0.1)
FLOOR = Threshold("metrics", "correctness", "floor", 0.9)
WRONG = Threshold("metrics", "answered_wrong", "ceiling", 0.05)
RISE = Threshold("metrics", "answered_wrong", "rise", 0.05)
GAIN = Threshold("gain", "answered_wrong", "at_most", -0.3)
ALL = [CORRECT, FLOOR, WRONG, RISE, GAIN]


@pytest.fixture
def accepted(tmp_path: Path) -> Baseline:
    return from_results(written(tmp_path / "accepted", a_whole_run()))


def judged(accepted: Baseline, results: Results, *thresholds: Threshold) -> Verdict:
    return judge(results, accepted, thresholds or ALL)


def states(verdict: Verdict) -> dict[str, str]:
    return {check.threshold.name: check.state for check in verdict.checks}


def without(records: list[Record], name: str, pipeline: str = "corrective") -> list[Record]:
    return [record for record in records if record.key != (pipeline, name)]


def test_the_same_run_passes(tmp_path: Path, accepted: Baseline) -> None:
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run()))
    assert set(states(verdict).values()) == {"pass"}
    assert (verdict.state, verdict.exit_code) == ("pass", 0)
    assert (verdict.problems, verdict.notes, verdict.lost, verdict.won) == ([], [], [], [])


def test_every_state_has_its_exit_code() -> None:
    assert EXIT_CODES == {"pass": 0, "regression": 1, "stale_labels": 3, "incomplete": 4}


def test_one_question_lost_is_allowed_and_named(tmp_path: Path, accepted: Baseline) -> None:
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run({"a3": a_refusal()})))
    assert verdict.state == "pass"
    assert [(one.id, one.outcome) for one in verdict.lost] == [("a3", "refused (no_evidence)")]


def test_two_questions_lost_are_a_regression_with_its_figures(
    tmp_path: Path, accepted: Baseline
) -> None:
    lost = {"a3": a_refusal(), "a4": a_refusal()}
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run(lost)))
    assert verdict.exit_code == 1
    assert states(verdict) == {
        CORRECT.name: "regression",
        FLOOR.name: "regression",
        WRONG.name: "pass",
        RISE.name: "pass",
        GAIN.name: "pass",
    }
    fell, floor = verdict.checks[:2]
    assert (fell.value, fell.baseline, fell.difference) == (0.8, 1.0, -0.2)
    assert fell.said == "fell by 0.2000 from 1.0000 to 0.8000, allowed 0.1"
    assert floor.said == "0.8000, floor 0.9"
    assert fell.interval is not None
    assert fell.interval[0] <= -0.2 <= fell.interval[1] <= 0.0


def test_a_wrong_answer_too_many_is_a_regression(tmp_path: Path, accepted: Baseline) -> None:
    wrong = dict.fromkeys(["u1", "u2"], a_run())
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run(wrong)))
    assert {name for name, state in states(verdict).items() if state == "regression"} == {
        WRONG.name,
        RISE.name,
    }


def test_what_was_won_is_named_and_changes_nothing(tmp_path: Path) -> None:
    worse = from_results(written(tmp_path / "accepted", a_whole_run({"a0": a_refusal()})))
    verdict = judged(worse, written(tmp_path / "run", a_whole_run()))
    assert verdict.state == "pass"
    assert [one.id for one in verdict.won] == ["a0"]


def test_a_gain_must_exclude_0(tmp_path: Path, accepted: Baseline) -> None:
    """-0.05: one of twenty questions; a resample without it has no gain."""
    wrong = {f"u{n}": a_run() for n in range(1, 10)}
    little = Threshold("gain", "answered_wrong", "at_most", -0.01)
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run(wrong)), little)
    (check,) = verdict.checks
    assert check.state == "regression"
    assert "does not exclude 0" in check.said


def test_an_invalid_citation_fails_its_floor(tmp_path: Path, accepted: Baseline) -> None:
    broken = a_run(sentences=[told("five days", a_cited(problem="altered"))])
    floor = Threshold("metrics", "citation_validity", "floor", 1.0)
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run({"a1": broken})), floor)
    assert (verdict.exit_code, verdict.checks[0].value) == (1, 0.9)


def test_stages_and_tags_are_held_apart(tmp_path: Path, accepted: Baseline) -> None:
    records = a_whole_run()
    turned = [
        record.model_copy(
            update={
                "ran": record.ran.model_copy(
                    update={"stages": record.ran.stages | {"reranked": ["c2", "c1"]}}
                )
            }
        )
        if record.ran and record.pipeline == "corrective"
        else record
        for record in records
    ]
    thresholds = [
        Threshold("stages.retrieved", "RR", "drop", 0.1),
        Threshold("stages.reranked", "RR", "drop", 0.1),
        Threshold("tags.lookup", "correctness", "floor", 1.0),
    ]
    verdict = judged(accepted, written(tmp_path / "run", turned), *thresholds)
    assert list(states(verdict).values()) == ["pass", "regression", "pass"]


def test_an_error_is_incomplete_even_where_all_thresholds_hold(
    tmp_path: Path, accepted: Baseline
) -> None:
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run({"u0": None})))
    assert set(states(verdict).values()) == {"pass"}
    assert verdict.exit_code == 4
    assert verdict.problems == ["u0 (corrective): x: broke"]


@pytest.mark.parametrize("pipeline", ["corrective", "naive"])
def test_a_row_that_is_missing_is_incomplete(
    tmp_path: Path, accepted: Baseline, pipeline: str
) -> None:
    records = without(a_whole_run(), "u0", pipeline)
    verdict = judged(accepted, written(tmp_path / "run", records))
    assert verdict.exit_code == 4
    assert f"u0 ({pipeline}): no record" in verdict.problems


def test_a_question_of_the_baseline_that_was_not_run_is_incomplete(
    tmp_path: Path, accepted: Baseline
) -> None:
    records = without(without(a_whole_run(), "u0"), "u0", "naive")
    verdict = judged(accepted, written(tmp_path / "run", records))
    assert verdict.exit_code == 4
    assert verdict.problems == ["u0: in the baseline, not run"]


def test_a_row_that_stands_twice_is_incomplete(tmp_path: Path, accepted: Baseline) -> None:
    records = a_whole_run()
    metrics = measure(records, about=ABOUT)
    verdict = judged(accepted, written(tmp_path / "run", [*records, records[0]], metrics))
    assert verdict.exit_code == 4
    assert "a0 (corrective): 2 records" in verdict.problems


def test_a_value_that_is_no_number_is_incomplete(tmp_path: Path, accepted: Baseline) -> None:
    records = a_whole_run({"a0": a_run(best_grade=math.nan)})
    verdict = judged(accepted, written(tmp_path / "run", records))
    assert verdict.exit_code == 4
    assert verdict.problems == ["a0 (corrective): best_grade is no number"]


def test_incomplete_comes_before_a_regression(tmp_path: Path, accepted: Baseline) -> None:
    lost = {"a1": a_refusal(), "a2": a_refusal(), "a3": None}
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run(lost)))
    assert "regression" in states(verdict).values()
    assert verdict.exit_code == 4


VALIDITY = Threshold("metrics", "citation_validity", "floor", 1.0)
NOTHING_TOLD = {f"a{n}": a_refusal() for n in range(10)}


@pytest.mark.parametrize(
    "threshold",
    [
        VALIDITY,
        Threshold("metrics", "groundedness", "drop", 0.1),
        Threshold("tags.lookup", "citation_coverage", "floor", 1.0),
        Threshold("gain", "citation_validity", "at_least", 0.0),
    ],
    ids=lambda threshold: threshold.name,
)
def test_a_metric_that_a_run_of_refusals_has_no_more_has_fallen(
    tmp_path: Path, accepted: Baseline, threshold: Threshold
) -> None:
    run = written(tmp_path / "run", a_whole_run(NOTHING_TOLD))
    verdict = judged(accepted, run, threshold, CORRECT, WRONG)
    assert verdict.exit_code == 1
    assert list(states(verdict).values()) == ["regression", "regression", "pass"]
    said = "it applies to no question of this run; in the baseline to 10, with 1.0000"
    assert (verdict.checks[0].value, verdict.checks[0].said) == (None, said)


def test_a_stage_that_is_reached_no_more_has_fallen(tmp_path: Path, accepted: Baseline) -> None:
    records = [
        record.model_copy(
            update={"ran": record.ran and record.ran.model_copy(update={"stages": {}})}
        )
        for record in a_whole_run(NOTHING_TOLD)
    ]
    threshold = Threshold("stages.reranked", "nDCG@10", "floor", 0.1)
    verdict = judged(accepted, written(tmp_path / "run", records), threshold)
    assert (verdict.exit_code, verdict.checks[0].state) == (1, "regression")


def test_a_metric_that_neither_run_nor_baseline_has_is_incomplete(tmp_path: Path) -> None:
    refused = from_results(written(tmp_path / "accepted", a_whole_run(NOTHING_TOLD)))
    verdict = judged(refused, written(tmp_path / "run", a_whole_run(NOTHING_TOLD)), VALIDITY)
    assert verdict.exit_code == 4
    assert verdict.checks[0].said == "records.jsonl has no value of it"


def test_edited_metrics_do_not_help(tmp_path: Path, accepted: Baseline) -> None:
    """The worse of both files counts."""
    records = a_whole_run({"a3": a_refusal(), "a4": a_refusal()})
    better = measure(a_whole_run(), about=ABOUT)
    assert judged(accepted, written(tmp_path / "run", records, better)).exit_code == 1
    worse = measure(records, about=ABOUT)
    assert judged(accepted, written(tmp_path / "other", a_whole_run(), worse)).exit_code == 1


def test_metrics_without_the_value_are_incomplete(tmp_path: Path, accepted: Baseline) -> None:
    metrics = measure(a_whole_run(), about=ABOUT)
    del metrics["metrics"]["corrective"]["correctness"]
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run(), metrics), CORRECT)
    assert verdict.exit_code == 4
    assert verdict.checks[0].said == "metrics.json has no value of it"


def test_another_golden_set_is_a_configuration_error(tmp_path: Path, accepted: Baseline) -> None:
    golden = {"file": "other.jsonl", "sha256": "1" * 64, "split": None}
    results = written(tmp_path / "run", a_whole_run(), golden=golden)
    with pytest.raises(ConfigurationError, match="of another golden set"):
        judged(accepted, results)


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (Threshold("metrics", "correctness", "drop", 0.09), "give 0.1 or more"),
        (Threshold("metrics", "answered_wrong", "rise", 0.04), "give 0.05 or more"),
        (Threshold("metrics", "token_f1", "drop", 0.5), "the baseline has no value of it"),
        (Threshold("tags.lokup", "correctness", "floor", 0.5), "did you mean 'lookup'?"),
    ],
)
def test_a_threshold_that_cannot_be_judged_is_a_configuration_error(
    tmp_path: Path, accepted: Baseline, threshold: Threshold, said: str
) -> None:
    results = written(tmp_path / "run", a_whole_run())
    with pytest.raises(ConfigurationError) as raised:
        judged(accepted, results, threshold)
    assert said in raised.value.message


def test_what_else_is_different_is_a_note(tmp_path: Path, accepted: Baseline) -> None:
    about: dict[str, Any] = {"index_version": "v2", "settings": {"rerank": {"keep": 3}}}
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run(), **about))
    assert verdict.state == "pass"
    assert verdict.notes == [
        "index is v2; the baseline's was v1",
        "rerank.keep is 3; the baseline's was 5",
    ]


def test_what_an_older_baseline_does_not_say_is_a_note_too(
    tmp_path: Path, accepted: Baseline
) -> None:
    versions = {"pipeline": "1", "calibration": "passages:a"}
    verdict = judged(accepted, written(tmp_path / "run", a_whole_run(), versions=versions))
    assert verdict.state == "pass"
    assert verdict.notes == ["calibration is passages:a; the baseline's was not recorded"]


def test_a_baseline_is_the_same_after_its_file(tmp_path: Path, accepted: Baseline) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(as_text(accepted), encoding="utf-8")
    assert read_baseline(file) == accepted


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "Invalid JSON"),
        ("{}", "golden: Field required"),
        (json.dumps(ABOUT | {"ids": ["a", "a"], "values": {}}), "ids are missing or stand twice"),
        (
            json.dumps(ABOUT | {"ids": ["a"], "values": {"metrics": {"RR": []}}}),
            "RR has 0 values, not one per id",
        ),
        (json.dumps(ABOUT | {"ids": ["a"], "values": {"metrics": {"RR": ["x"]}}}), "valid number"),
    ],
)
def test_a_broken_baseline_is_a_configuration_error(
    tmp_path: Path, content: str, said: str
) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"^baseline .*baseline\.json: ") as raised:
        read_baseline(file)
    assert said in raised.value.message


def test_a_missing_baseline_names_the_command_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="`crag eval accept` writes it"):
        read_baseline(tmp_path / "baseline.json")


@pytest.mark.parametrize("missing", ["records.jsonl", "metrics.json"])
def test_a_run_that_did_not_end_is_incomplete(tmp_path: Path, missing: str) -> None:
    written(tmp_path / "run", a_whole_run())
    (tmp_path / "run" / missing).unlink()
    with pytest.raises(Incomplete, match=rf"has no {missing}: the run did not end"):
        read_results(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("records.jsonl", ""),
        ("records.jsonl", '{"pipeline": "corrective", "gol'),
        ("metrics.json", "{"),
        ("metrics.json", "{}"),
    ],
)
def test_files_that_are_broken_are_incomplete(tmp_path: Path, name: str, content: str) -> None:
    written(tmp_path / "run", a_whole_run())
    (tmp_path / "run" / name).write_text(content, encoding="utf-8")
    with pytest.raises(Incomplete):
        read_results(tmp_path / "run")


def test_a_run_that_stopped_on_stale_labels_says_which(tmp_path: Path) -> None:
    written(tmp_path / "run", a_whole_run())
    (tmp_path / "run" / "stale_labels.txt").write_text("1 labels: a0\n", encoding="utf-8")
    with pytest.raises(StaleLabels, match="1 labels: a0"):
        read_results(tmp_path / "run")


def test_a_folder_that_is_not_there_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no folder"):
        read_results(tmp_path / "run")
