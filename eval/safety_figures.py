"""A figure of a safety suite: its value, its interval and what it must hold."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eval.clustered import Weights, clustered_interval
from eval.statistics import wilson_interval


@dataclass(frozen=True)
class Figure:
    """`value` with its 95 % interval over `n` cases; NaN where no case tells. With neither
    `at_most` nor `at_least` it is only reported."""

    name: str
    value: float
    low: float
    high: float
    n: int
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool | None:
        if self.at_most is not None:
            return self.value <= self.at_most
        return self.value >= self.at_least if self.at_least is not None else None

    def as_json(self) -> dict[str, Any]:
        """Null for NaN: it is no JSON."""
        value, low, high = (
            None if math.isnan(x) else round(x, 4) for x in (self.value, self.low, self.high)
        )
        aim = {"at_most": self.at_most, "at_least": self.at_least, "met": self.met}
        own = {name: told for name, told in aim.items() if told is not None}
        return {"value": value, "interval": [low, high], "n": self.n, **own}


def share(name: str, found: int, n: int, at_most: float | None = None) -> Figure:
    """How many of `n`, with Wilson's interval: it does not vanish where none was found."""
    if not n:
        return Figure(name, math.nan, math.nan, math.nan, 0, at_most)
    low, high = wilson_interval(found, n)
    return Figure(name, found / n, low, high, n, at_most)


def clustered(
    name: str,
    groups: Sequence[str],
    measure: Callable[[Weights], float],
    *,
    at_least: float | None = None,
) -> Figure:
    """A measure over cases that are drawn by groups; as clustered_interval takes it."""
    import numpy as np

    if not groups:
        return Figure(name, math.nan, math.nan, math.nan, 0, at_least=at_least)
    value = measure(np.ones(len(groups), dtype=np.int64))
    low, high = clustered_interval(groups, measure)
    return Figure(name, value, low, high, len(groups), at_least=at_least)
