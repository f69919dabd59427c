"""What changed between two runs of the same questions: metrics with intervals, and questions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.metrics import ALL, Row
from eval.records import Record
from eval.results import DIGITS
from eval.statistics import difference_intervals


@dataclass(frozen=True)
class Change:
    """Of one metric: its means over the `n` questions it applied to before, and over those now.

    `interval` is the 95 % bootstrap interval of `difference`, paired by question.
    """

    before: float
    after: float
    difference: float
    interval: tuple[float, float]
    n: int


@dataclass(frozen=True)
class Turned:
    """A question that was right and is not, or the other way round; `outcome` is the later one."""

    id: str
    question: str
    outcome: str


def changes(before: Mapping[str, Row], after: Mapping[str, Row]) -> dict[str, Change]:
    """By metric, over the questions of both; a metric without a value on a side is not there."""
    both = sorted(before.keys() & after.keys())
    names = [
        name
        for name in ALL
        if any(name in before[key] for key in both) and any(name in after[key] for key in both)
    ]
    if not names:
        return {}
    old, new = _matrix(before, both, names), _matrix(after, both, names)
    means = zip(np.nanmean(old, axis=0), np.nanmean(new, axis=0), strict=True)
    counts = (~np.isnan(old)).sum(axis=0).tolist()
    ends = difference_intervals(new, old)
    return {
        name: _change(*mean, interval, n)
        for name, mean, interval, n in zip(names, means, ends, counts, strict=True)
    }


def _change(before: float, after: float, interval: tuple[float, float], n: int) -> Change:
    before, after, low, high = (round(float(x), DIGITS) for x in (before, after, *interval))
    return Change(before, after, round(after - before, DIGITS), (low, high), n)


def turned(
    before: Mapping[str, Row], after: Mapping[str, Row], questions: Mapping[str, Record]
) -> tuple[list[Turned], list[Turned]]:
    """The questions that are no longer right, and those that now are. `questions` are the later
    run's records."""
    lost: list[Turned] = []
    won: list[Turned] = []
    for key, record in questions.items():
        if key in before and key in after and right(before[key]) != right(after[key]):
            one = Turned(key, record.golden.question, _outcome(record))
            (lost if right(before[key]) else won).append(one)
    return lost, won


def right(row: Row) -> bool:
    """Whether the question was answered right, or, where nothing answers it, refused."""
    return row.get("correctness", row.get("refusal_recall")) == 1


def _outcome(record: Record) -> str:
    if record.ran is None:
        return "error"
    reason = f" ({record.ran.reason})" if record.ran.reason else ""
    return record.ran.outcome + reason


def _matrix(rows: Mapping[str, Row], keys: list[str], names: list[str]) -> NDArray[np.float64]:
    return np.array([[rows[key].get(name, math.nan) for name in names] for key in keys])
