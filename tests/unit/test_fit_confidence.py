"""Fitting the probability of a right answer to runs."""

import random

import pytest

from eval.benchmarks.confidence import Row, fit, rows_of
from graph.adapters.fitted_confidence import ConfidenceFile
from ingest.errors import ConfigurationError
from nodes.confidence import NAMES
from tests.golden_records import a_question, a_record, a_run

DICE = random.Random(7)


def a_row(number: int) -> Row:
    """Right the more often, the better its best grade; the other signs are noise."""
    signs = {name: DICE.gauss(0, 1) for name in NAMES}
    return Row(f"q{number}", signs, DICE.gauss(0, 0.5) < signs["best"])


ROWS = [a_row(number) for number in range(200)]


def test_what_tells_right_from_wrong_weighs_most_and_is_seen_in_questions_held_out() -> None:
    parameters, held_out = fit(ROWS)
    file = ConfidenceFile(**parameters, fitted_on={}, measured={})
    weights = dict(zip(file.signs, file.weights, strict=True))
    assert weights["best"] > 3 * max(abs(weights["rest"]), abs(weights["covered"]))
    right = [p for p, row in zip(held_out, ROWS, strict=True) if row.right]
    wrong = [p for p, row in zip(held_out, ROWS, strict=True) if not row.right]
    assert sum(right) / len(right) > sum(wrong) / len(wrong) + 0.3


def test_too_few_answers_of_a_kind_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="30 of each"):
        fit([row for row in ROWS if row.right])


def test_the_test_split_is_never_fitted_on() -> None:
    signs = dict.fromkeys(NAMES, 0.0)
    trace = [{"node": "estimate_confidence", "summary": {"signs": signs}}]
    records = [
        a_record("corrective", a_question(split, split=split), a_run(trace=trace))
        for split in ("dev", "test")
    ]
    assert [row.id for row in rows_of(records)] == ["dev"]
