"""Intervals and calibration figures against numbers worked out by hand."""

import numpy as np
import pytest

from eval.statistics import bootstrap_interval, expected_calibration_error


def test_equal_values_have_no_spread() -> None:
    assert bootstrap_interval([0.5] * 20) == (0.5, 0.5)


def test_the_interval_is_the_same_every_time_and_holds_the_mean() -> None:
    values = [0.0, 1.0] * 50
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(values)
    # the standard error of a fair coin over 100 throws is .05
    assert low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.02)
    assert high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.02)


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstrap_interval([])


def test_calibration_error_is_the_gap_weighted_by_bin() -> None:
    # .9 twice with one right: gap .4, half of the weight; .2 twice with none right: gap .2
    probabilities = np.array([0.9, 0.9, 0.2, 0.2])
    labels = np.array([True, False, False, False])
    assert expected_calibration_error(probabilities, labels) == pytest.approx(0.3)


def test_a_certain_and_right_probability_has_no_calibration_error() -> None:
    probabilities = np.array([1.0, 0.0])
    assert expected_calibration_error(probabilities, np.array([True, False])) == 0.0
