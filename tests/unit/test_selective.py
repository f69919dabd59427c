"""Risk and coverage, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics import measure
from eval.report import markdown
from eval.report_html import html
from eval.selective import area, coverage_at, risk_coverage, threshold_at
from tests.golden_records import a_question, a_record, a_refusal, a_run

ANSWERS = [(0.9, False), (0.8, False), (0.7, True), (0.6, False)]


def test_risk_and_coverage_by_hand() -> None:
    points = risk_coverage(ANSWERS, 8)
    assert points == [(1 / 8, 0.0), (2 / 8, 0.0), (3 / 8, 1 / 3), (4 / 8, 1 / 4)]
    assert coverage_at(0.05, points) == 2 / 8
    assert coverage_at(0.25, points) == 4 / 8
    assert threshold_at(0.05, ANSWERS) == 0.8
    assert area(ANSWERS) == pytest.approx((0 + 0 + 1 / 3 + 1 / 4) / 4)


def test_the_equally_confident_are_answered_together() -> None:
    assert risk_coverage([(0.5, True), (0.5, False)], 2) == [(1.0, 0.5)]


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), min_size=1))
def test_bounds(answers: list[tuple[float, bool]]) -> None:
    points = risk_coverage(answers, len(answers))
    assert 0 <= area(answers) <= 1
    assert points[-1][0] == 1
    assert points[-1][1] == pytest.approx(sum(wrong for _, wrong in answers) / len(answers))


def test_metrics_and_reports_tell_it_of_the_answers_of_a_run() -> None:
    runs = [a_run(confidence=0.9), a_run(answer="No.", confidence=0.4), a_refusal(), a_refusal()]
    records = [
        a_record("corrective", a_question(f"q{n}", must_contain=["five days"]), ran)
        for n, ran in enumerate(runs)
    ]
    golden = {"file": "g.jsonl", "sha256": "", "split": None}
    about = {"knowledge_bases": ["kb"], "golden": golden, "index_version": "1", "versions": {}}
    metrics = measure(records, about=about)
    assert metrics["selective"]["corrective"] == {
        "answers": 2,
        "aurc": 0.25,  # half of the coverage at risk 0, half at 1/2
        "coverage_at_5_percent_risk": 0.25,
    }
    assert "(AURC) 0.250; 25.0 % of all questions" in markdown(metrics)
    page = html(records, metrics)
    assert "CRAG_ANSWER__CONFIDENCE" in page
    assert "50.0% answered, 50.0% of them wrong" in page
