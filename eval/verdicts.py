"""The figures that decide: each with its interval, beside naive, and whether the gap is real."""

from dataclasses import dataclass
from typing import Any, Literal

Judgement = Literal["better", "worse", "unclear"]


@dataclass(frozen=True)
class Side:
    """What one pipeline reached, with its 95 % interval; all in [0, 1]."""

    pipeline: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Verdict:
    """`difference` and its interval are the paired gain over naive; None without a naive line."""

    label: str
    meaning: str
    sides: list[Side]
    difference: float | None
    interval: list[float]
    judgement: Judgement | None


SHOWN = {
    "correctness": ("Correct", "of the answerable questions; more is better"),
    "answered_wrong": ("Answered wrong", "of all questions; less is better"),
    "refusal_correctness": ("Right decision", "answered or refused as it should, of all questions"),
    "citation_validity": ("Citations that hold", "of those in answers; more is better"),
    "hit@1": ("First passage is relevant", "hit@1 of what was answered from; more is better"),
}
LESS_IS_BETTER = ("answered_wrong",)


def verdicts(metrics: dict[str, Any]) -> list[Verdict]:
    """Those of SHOWN that the run's first pipeline has; its side comes first."""
    first: dict[str, float] = next(iter(metrics["metrics"].values()), {})
    return [_verdict(metrics, name) for name in SHOWN if name in first]


def _verdict(metrics: dict[str, Any], name: str) -> Verdict:
    label, meaning = SHOWN[name]
    sides = [
        _side(metrics, pipeline, name)
        for pipeline, values in metrics["metrics"].items()
        if name in values
    ]
    gain = metrics["gain"].get(name)
    if gain is None:
        return Verdict(label, meaning, sides, None, [], None)
    low, high = gain["interval"]
    judged = _judgement(low, high, less_is_better=name in LESS_IS_BETTER)
    return Verdict(label, meaning, sides, gain["difference"], [low, high], judged)


def _side(metrics: dict[str, Any], pipeline: str, name: str) -> Side:
    value = metrics["metrics"][pipeline][name]
    low, high = metrics["intervals"][pipeline].get(name, (value, value))
    return Side(pipeline, value, low, high, metrics["applies"][pipeline].get(name, 0))


def _judgement(low: float, high: float, *, less_is_better: bool) -> Judgement:
    if less_is_better:
        low, high = -high, -low
    if low > 0:
        return "better"
    return "worse" if high < 0 else "unclear"
