"""metrics.json: means over all questions, errors counted, the gain paired, strict JSON."""

import json
import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from eval.evaluate import write_metrics
from eval.metrics import ALL, measure, paired_differences
from eval.records import PIPELINES, STAGES, Record
from eval.report import markdown
from eval.statistics import bootstrap_interval, bootstrap_intervals
from tests.golden_records import a_question, a_record, a_refusal, a_run, told

ABOUT = {"index_version": "v1"}
NAMED = (
    *(f"{name}@{k}" for name in ("hit", "P", "R", "nDCG") for k in (1, 3, 5, 10)),
    *"RR groundedness citation_coverage citation_validity".split(),
    *"refusal_precision refusal_recall refusal_correctness correctness answered_wrong".split(),
)
"""The names that INTERFACES fixes."""

REFUNDS = a_question("refunds", must_contain=["five days"], tags=["lookup"], answer="five days")
LEAVE = a_question("leave", must_contain=["twelve weeks"], tags=["lookup", "multi"])
MOON = a_question("moon", answerable=False, tags=["unanswerable"])
WRONG = a_run(answer="Something else.")


def measured(*records: Record) -> dict[str, Any]:
    """As it stands in the file, read by a reader that refuses NaN."""
    return dict(json.loads(json.dumps(measure(records, about=ABOUT)), parse_constant=refuse))


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


RUN = [
    a_record("corrective", REFUNDS, a_run(loops=1), ["c1", "c2"]),
    a_record("corrective", LEAVE, a_refusal(), ["c2", "c1"]),
    a_record("corrective", MOON, a_refusal(), ["c2"]),
    a_record("naive", REFUNDS, a_run(), ["c2", "c1"]),
    a_record("naive", LEAVE, WRONG, ["c2"]),
    a_record("naive", MOON, a_run(), ["c3"]),
]
"""One right, one wrongly refused, one rightly refused; and one right, two answered wrong."""


def test_the_fixed_names_are_all_there() -> None:
    found = measured(*RUN)
    assert {"n", "index_version", "metrics", "by_tag", "errors"} <= found.keys()
    assert list(found["metrics"]) == ["corrective", "naive"]
    assert set(NAMED) <= found["metrics"]["corrective"].keys()
    assert set(NAMED) - {"refusal_precision"} <= found["metrics"]["naive"].keys()
    assert set(NAMED) <= set(ALL)


def test_means_are_those_worked_out_by_hand() -> None:
    found = measured(*RUN)
    ours, naive = found["metrics"]["corrective"], found["metrics"]["naive"]
    assert (found["n"], found["errors"], found["index_version"]) == (3, 0, "v1")
    assert (ours["correctness"], naive["correctness"]) == (0.5, 0.5)
    assert ours["answered_wrong"] == 0.0
    assert naive["answered_wrong"] == pytest.approx(2 / 3, abs=1e-6)
    assert (ours["refusal_precision"], ours["refusal_recall"]) == (0.5, 1.0)
    assert naive["refusal_recall"] == 0.0
    assert (
        ours["refusal_correctness"]
        == naive["refusal_correctness"]
        == pytest.approx(2 / 3, abs=1e-6)
    )
    assert ours["corrected"] == 0.5
    assert ours["loops"] == pytest.approx(1 / 3, abs=1e-6)
    # c1 at 1 and at 2 of the answerable; naive has it at 2 and nowhere
    assert (ours["hit@1"], ours["RR"], naive["RR"]) == (0.5, 0.75, 0.25)
    assert found["applies"]["corrective"]["hit@1"] == 2
    assert found["applies"]["corrective"]["answered_wrong"] == 3


def test_a_refusal_counts_in_correctness_and_is_never_missing() -> None:
    """PITFALL: "I don't know" scores NaN, and NaN rows vanish from the mean."""
    found = measured(
        a_record("corrective", REFUNDS, a_run()), a_record("corrective", LEAVE, a_refusal())
    )
    assert found["metrics"]["corrective"]["correctness"] == 0.5
    assert found["applies"]["corrective"]["correctness"] == 2


def test_an_answer_with_nothing_retrieved_has_zeros_in_the_mean() -> None:
    found = measured(
        a_record("corrective", REFUNDS, a_run(), ["c1"]), a_record("corrective", LEAVE, a_refusal())
    )
    assert found["metrics"]["corrective"]["hit@10"] == 0.5
    assert found["stages"]["corrective"]["retrieved"]["hit@1"] == 0.5


def test_an_error_is_counted_and_is_in_no_mean() -> None:
    failed = [a_record("corrective", LEAVE, None), a_record("naive", MOON, None)]
    kept = [record for record in RUN if record.key not in {one.key for one in failed}]
    found = measured(*kept, *failed)
    assert (found["n"], found["errors"]) == (3, 2)
    assert found["metrics"]["corrective"]["correctness"] == 1.0
    assert found["applies"]["corrective"]["correctness"] == 1
    assert found["applies"]["corrective"]["answered_wrong"] == 2
    assert found["by_tag"]["lookup"]["n"] == 2
    assert found["by_tag"]["unanswerable"] == {
        "n": 1,
        "corrective": found["by_tag"]["unanswerable"]["corrective"],
        "naive": {},
    }


def test_nothing_but_errors_is_still_a_report() -> None:
    found = measured(*(a_record(p, REFUNDS, None) for p in PIPELINES))
    assert (found["n"], found["errors"]) == (1, 2)
    assert found["metrics"] == {"corrective": {}, "naive": {}}
    assert found["gain"] == {}


def test_one_pipeline_alone_has_no_gain() -> None:
    found = measured(*RUN[:3])
    assert list(found["metrics"]) == ["corrective"]
    assert found["gain"] == {}


def test_only_unanswerable_questions_have_no_retrieval_metrics() -> None:
    found = measured(*(a_record(p, MOON, a_refusal(), ["c1"]) for p in PIPELINES))
    assert "hit@1" not in found["metrics"]["corrective"]
    assert found["metrics"]["naive"]["refusal_recall"] == 1.0


def test_tags_have_means_of_their_own() -> None:
    found = measured(*RUN)["by_tag"]
    assert list(found) == ["lookup", "multi", "unanswerable"]
    assert [found[tag]["n"] for tag in found] == [2, 1, 1]
    assert found["lookup"]["corrective"]["correctness"] == 0.5
    assert found["multi"]["naive"]["answered_wrong"] == 1.0
    assert found["unanswerable"]["corrective"]["refusal_recall"] == 1.0
    assert "correctness" not in found["unanswerable"]["corrective"]


def test_the_gain_is_paired_by_question() -> None:
    # answered_wrong: 0-0, 0-1, 0-1
    gain = measured(*RUN)["gain"]
    assert gain["answered_wrong"]["difference"] == pytest.approx(-2 / 3, abs=1e-6)
    assert gain["answered_wrong"]["n"] == 3
    low, high = gain["answered_wrong"]["interval"]
    assert -1.0 <= low <= -2 / 3 + 1e-6 <= high + 1e-6 <= 0.0 + 1e-6
    assert gain["RR"] == {"difference": 0.5, "interval": [0.5, 0.5], "n": 2}
    # only the corrective run refused: no pair has a refusal on both sides
    assert "refusal_precision" not in gain


def test_a_pair_with_an_error_on_one_side_is_no_pair() -> None:
    without = [*RUN[:3], a_record("naive", REFUNDS, None), *RUN[4:]]
    gain = measured(*without)["gain"]
    assert gain["answered_wrong"] | {"interval": None} == {
        "difference": -1.0,
        "interval": None,
        "n": 2,
    }
    assert gain["answered_wrong"]["interval"] == [-1.0, -1.0]


def test_pairs_go_by_id_and_not_by_order() -> None:
    ours = {"a": {"RR": 1.0}, "b": {"RR": 0.0}, "c": {"RR": 1.0}}
    theirs = {"b": {"RR": 0.0}, "a": {"RR": 1.0}, "d": {"RR": 0.0}}
    assert paired_differences(ours, theirs)["RR"] == {
        "difference": 0.0,
        "interval": [0.0, 0.0],
        "n": 2,
    }
    assert paired_differences(ours, {}) == {}


def test_stages_are_before_and_after_each_step() -> None:
    steps = {"retrieved": ["x", "c1"], "reranked": ["c1", "x"], "graded": [], "corrected": ["c1"]}
    found = measured(a_record("corrective", REFUNDS, a_run(stages=steps)))
    stages = found["stages"]["corrective"]
    assert list(stages) == list(STAGES)
    assert [stages[stage]["hit@1"] for stage in STAGES] == [0.0, 1.0, 0.0, 1.0]
    assert stages["retrieved"]["recall_curve"]["1"] == 0.0
    assert stages["retrieved"]["recall_curve"]["50"] == 1.0
    # a pipeline's own figure is that of its last stage
    assert found["metrics"]["corrective"]["hit@1"] == 1.0


def test_each_step_has_its_paired_gain() -> None:
    """Reranking puts one of two right passages first, correction loses the other one."""
    up = {"retrieved": ["x", "c1"], "reranked": ["c1", "x"], "corrected": ["c1"]}
    down = {"retrieved": ["c1"], "reranked": ["c1"], "corrected": ["x"]}
    found = measured(
        a_record("corrective", REFUNDS, a_run(stages=up)),
        a_record("corrective", LEAVE, a_run(stages=down)),
    )["steps"]
    gains = {step: found[step]["hit@1"] for step in ("reranking", "correction")}
    assert [gains[step]["difference"] for step in gains] == [0.5, -0.5]
    assert gains["reranking"]["interval"][0] >= 0 >= gains["correction"]["interval"][1]
    alone = measured(a_record("corrective", REFUNDS, a_run(stages=up)))
    of = {"knowledge_bases": ["kb"], "golden": {"file": "golden.jsonl", "split": None}}
    shown = markdown(alone | of)
    assert "| reranking | +1.000 [1.000, 1.000] | +0.000" in shown


def test_what_is_reachable_is_a_ranking_of_all_labels() -> None:
    """One right passage fills a fifth of five places, two of five fill two fifths."""
    two = a_question("two")
    found = measured(
        a_record("corrective", REFUNDS, a_run(), relevant=["c1"]),
        a_record("corrective", two, a_run(), relevant=["c1", "c2"]),
    )
    reachable = found["reachable"]
    assert (reachable["P@1"], reachable["P@5"]) == (1.0, pytest.approx(0.3))
    assert (reachable["hit@1"], reachable["R@1"], reachable["nDCG@10"]) == (1.0, 0.75, 1.0)


def test_what_is_reachable_is_said_where_one_pipeline_alone_ran() -> None:
    found = measured(a_record("corrective", REFUNDS, None), a_record("naive", REFUNDS, a_run()))
    assert found["reachable"]["P@5"] == pytest.approx(0.2)


def test_the_order_of_the_records_changes_nothing() -> None:
    forward, backward = measured(*RUN), measured(*reversed(RUN))
    for name in ("metrics", "by_tag", "gain", "applies", "errors", "n"):
        assert forward[name] == backward[name], name


def test_latency_and_cost_are_of_what_ran() -> None:
    ran = a_run(total_ms=10.0, node_ms={"retrieve": 4.0}, tokens=500_000)
    slow = a_run(total_ms=30.0, node_ms={"retrieve": 8.0, "generate": 2.0}, tokens=250_000)
    records = [a_record("corrective", REFUNDS, ran), a_record("corrective", LEAVE, slow)]
    found = measure([*records, a_record("corrective", MOON, None)], about={},
        usd_per_million_tokens=2.0)  # fmt: skip
    assert found["latency_ms"]["corrective"]["p50"] == 20.0
    assert found["latency_ms"]["corrective"]["mean_by_node"] == {"retrieve": 6.0, "generate": 1.0}
    assert found["cost_usd"]["corrective"] == pytest.approx(1.5)


OUTCOMES = st.sampled_from(["right", "wrong", "refused", "silent", "error"])
WAYS = {
    "right": a_run(),
    "wrong": a_run(answer="Something else.", sentences=[told("Something else.")]),
    "refused": a_refusal(),
    "silent": a_run(answer="", sentences=[]),
    "error": None,
}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), OUTCOMES, OUTCOMES), min_size=1, max_size=5))
def test_any_mix_is_strict_json_and_intervals_hold_their_means(
    asked: list[tuple[bool, str, str]],
) -> None:
    records = []
    for n, (answerable, ours, naive) in enumerate(asked):
        more: dict[str, Any] = {"must_contain": ["five days"]} if answerable else {}
        question = a_question(f"q{n}", answerable=answerable, tags=["t"], **more)
        records.append(a_record("corrective", question, WAYS[ours], ["c1"]))
        records.append(a_record("naive", question, WAYS[naive], ["x", "c1"]))
    found = measured(*records)
    assert found["n"] == len(asked)
    assert found["errors"] == sum(way == "error" for _, *ways in asked for way in ways)
    for pipeline, means in found["metrics"].items():
        assert (
            means.keys() == found["intervals"][pipeline].keys() == found["applies"][pipeline].keys()
        )
        for name, mean in means.items():
            low, high = found["intervals"][pipeline][name]
            assert low - 1e-6 <= mean <= high + 1e-6, (pipeline, name)
            assert name in ("loops", "chat_calls", "tokens") or 0.0 <= low <= high <= 1.0
    for name, gain in found["gain"].items():
        low, high = gain["interval"]
        assert low - 1e-6 <= gain["difference"] <= high + 1e-6, name


def test_the_file_is_the_metrics_as_any_reader_of_json_reads_them(tmp_path: Any) -> None:
    metrics = measure(RUN, about=ABOUT | {"golden": {"file": "Größe.jsonl"}})
    write_metrics(tmp_path / "metrics.json", metrics)
    text = (tmp_path / "metrics.json").read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=refuse) == metrics


def test_a_not_a_number_is_not_written(tmp_path: Any) -> None:
    with pytest.raises(ValueError):
        write_metrics(tmp_path / "metrics.json", {"RR": math.nan})


def test_a_row_that_stands_twice_is_not_counted_once() -> None:
    """A question measured twice would be one of n, with the later run's values."""
    with pytest.raises(ValueError):
        measure([RUN[0], RUN[0]], about=ABOUT)


def test_ten_thousand_records_are_scored_in_five_seconds() -> None:
    """On one core; passages and rankings are as long as those of a real run, and all differ."""
    rule = "Rule {} says that goods go back to the warehouse of region {} within so many days. " * 8
    records = []
    for n in range(5_000):
        question = a_question(
            f"q{n}", must_contain=[f"region {n}"], answer=f"region {n}", tags=["t"]
        )
        ranking = [f"c{(n + place) % 97}" for place in range(50)]
        ran = a_run(
            answer=f"They go back to region {n}.",
            sentences=[told(f"They go back to region {n}.")] * 2,
            passages=[rule.format(*[n + 7 - part] * 16) for part in range(5)],
        )
        records += [a_record(pipeline, question, ran, ranking) for pipeline in PIPELINES]
    with threadpool_limits(1):
        started = time.process_time()
        found = measure(records, about=ABOUT)
        spent = time.process_time() - started
    assert (found["n"], found["errors"]) == (5_000, 0)
    assert spent < 5


def test_columns_share_resamples_and_leave_out_what_is_missing() -> None:
    values = np.array([[1.0, 1.0, math.nan], [0.0, math.nan, math.nan], [1.0, 0.0, math.nan]])
    both, some, none = bootstrap_intervals(values)
    assert both == bootstrap_interval([1.0, 0.0, 1.0])
    assert some == (0.0, 1.0)
    assert all(math.isnan(end) for end in none)


def test_an_interval_narrows_with_the_root_of_n() -> None:
    # a fair coin thrown n times: 2 * 1.96 * .5 / sqrt(n)
    for n in (100, 400):
        low, high = bootstrap_interval([0.0, 1.0] * (n // 2))
        assert high - low == pytest.approx(1.96 / math.sqrt(n), rel=0.1)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 5))
def test_an_interval_lies_between_the_extremes(values: list[float], seed: int) -> None:
    low, high = bootstrap_interval(values, seed=seed)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
