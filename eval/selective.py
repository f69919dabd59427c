"""Answering only where one is sure enough: risk, coverage, and the area under their curve.

Risk is the share of wrong ones among the answers, coverage the share of the asked that is answered
(El-Yaniv and Wiener, "On the Foundations of Noise-free Selective Classification", JMLR 2010).
"""

import math
from collections.abc import Sequence
from itertools import groupby

from eval.answer_metrics import answered
from eval.fates import fate
from eval.records import Record

RISK = 0.05
"""The risk at which a coverage is told."""

Answered = tuple[float, bool]
"""(confidence in [0, 1], wrong)"""
Point = tuple[float, float]
"""(coverage, risk)"""


def answers_of(records: Sequence[Record]) -> list[Answered]:
    """One for each answer that has a confidence."""
    return [
        (record.ran.confidence, fate(record) == "wrong")
        for record in records
        if record.ran is not None and answered(record.ran) and record.ran.confidence is not None
    ]


def risk_coverage(answers: Sequence[Answered], asked: int) -> list[Point]:
    """Most confident first. Equally confident ones are answered together: no threshold tells them
    apart."""
    points: list[Point] = []
    taken = wrong = 0
    ordered = sorted(answers, key=lambda answer: -answer[0])
    for _, tied in groupby(ordered, key=lambda answer: answer[0]):
        group = list(tied)
        taken += len(group)
        wrong += sum(is_wrong for _, is_wrong in group)
        points.append((taken / asked, wrong / taken))
    return points


def area(answers: Sequence[Answered]) -> float:
    """AURC: the mean risk over all coverages of the answers, in [0, 1], lower is better (Geifman
    and El-Yaniv, "Selective Classification for Deep Neural Networks", NeurIPS 2017; the area as in
    Geifman, Uziel and El-Yaniv, ICLR 2019). NaN without an answer."""
    before, total = 0.0, 0.0
    for coverage, risk in risk_coverage(answers, len(answers)):
        total += (coverage - before) * risk
        before = coverage
    return total if answers else math.nan


def coverage_at(risk: float, points: Sequence[Point]) -> float:
    """The largest coverage whose risk is at most this; 0 where there is none."""
    return max((coverage for coverage, own in points if own <= risk), default=0.0)


def threshold_at(risk: float, answers: Sequence[Answered]) -> float:
    """The lowest confidence from which the risk is at most this; 1 where there is none."""
    levels = sorted({confidence for confidence, _ in answers})
    for level in levels:
        above = [wrong for confidence, wrong in answers if confidence >= level]
        if sum(above) / len(above) <= risk:
            return level
    return 1.0


def selective(records: Sequence[Record]) -> dict[str, float | int]:
    """What metrics.json says of one pipeline: empty where no answer has a confidence."""
    answers = answers_of(records)
    if not answers:
        return {}
    return {
        "answers": len(answers),
        "aurc": round(area(answers), 6),
        "coverage_at_5_percent_risk": round(
            coverage_at(RISK, risk_coverage(answers, len(records))), 6
        ),
    }
