"""The picture of a calibration: what it counts stands in it as text; it is made the same twice."""

from pathlib import Path

import numpy as np

from eval.calibration_plot import plot
from eval.held_out import HeldOut
from eval.thresholds import Best

PROBABILITIES = np.array([0.05, 0.1, 0.4, 0.8, 0.9])
ANSWERS = np.array([False, False, True, False, True])
HELD_OUT = HeldOut(
    sentences=PROBABILITIES,
    states=ANSWERS,
    passages=PROBABILITIES,
    labels=ANSWERS,
    datasets=np.array(["kb"] * 5),
    best=[Best("q1", "kb", 0.9, True, True), Best("q2", "kb", 0.8, False, False)],
    questions=[],
    uppers=[0.7],
)


def test_the_picture_names_what_it_counts(tmp_path: Path) -> None:
    plot(HELD_OUT, upper=0.7, lower=0.1, file=tmp_path / "c.svg")
    drawn = (tmp_path / "c.svg").read_text(encoding="utf-8")
    for said in (
        "passages that answer (2)",
        "passages that do not answer (3)",
        "lower 0.1",
        "upper 0.7",
        "What each threshold does to 2 questions",
    ):
        assert said in drawn


def test_the_same_values_give_the_same_picture(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        plot(HELD_OUT, upper=0.7, lower=0.1, file=tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
