"""The charts of a report as places on a canvas; `templates/charts.html` draws them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.fates import FATES, Fate
from eval.selective import Point

WIDTH, HEIGHT = 360, 230
"""Small enough that text on a phone, where a unit is a pixel, keeps its size."""
LEFT, RIGHT, TOP, BOTTOM = 40, 14, 12, 40
BINS = 20
BIN_HEIGHT = 40.0


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Line:
    """`style` is a class of the style sheet: colour, dash and marker."""

    name: str
    style: str
    points: list[Point]
    text: str
    markers: bool = True


@dataclass(frozen=True)
class Chart:
    """A line of a single point is a mark. `rows` are the figures behind the picture."""

    title: str
    x_label: str
    y_label: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Histogram:
    """The best grades of the questions with one fate: `bars` are shares of them in equal bins of
    [0, 1], as heights; `ungraded` had no grade."""

    fate: Fate
    name: str
    n: int
    ungraded: int
    median: float | None
    counts: list[int]
    bars: list[float]


def recall_chart(stages: Mapping[str, Mapping[str, Any]], styles: Mapping[str, str]) -> Chart:
    """Recall at each depth, a line for each stage by its name; depth is drawn as its logarithm."""
    curves = {name: found["recall_curve"] for name, found in stages.items()}
    depths = [int(depth) for depth in next(iter(curves.values()))]
    x = _scale(LEFT, WIDTH - RIGHT, math.log(depths[0]), math.log(depths[-1]))
    y = _scale(HEIGHT - BOTTOM, TOP, 0, 1)
    lines = [
        Line(
            name,
            styles[name],
            [(x(math.log(int(depth))), y(value)) for depth, value in curve.items()],
            f"{list(curve.values())[-1]:.3f} at {depths[-1]}",
        )
        for name, curve in curves.items()
    ]
    return Chart(
        "Recall at each depth, by stage",
        "passages looked at",
        "recall",
        [Tick(x(math.log(depth)), str(depth)) for depth in depths],
        _shares(y, 1),
        lines,
        ["stage", *map(str, depths)],
        [[name, *(f"{v:.3f}" for v in curve.values())] for name, curve in curves.items()],
    )


def risk_chart(curve: Sequence[Point], naive: Point | None) -> Chart:
    """The curve, its end as this run's operating point, and where naive stands."""
    highest = max(risk for _, risk in [*curve, *([naive] if naive else [])])
    top = max(0.1, math.ceil(highest * 10) / 10)
    x = _scale(LEFT, WIDTH - RIGHT, 0, 1)
    y = _scale(HEIGHT - BOTTOM, TOP, 0, top)
    lines = [Line("most confident first", "curve", [(x(c), y(r)) for c, r in curve], "", False)]
    for name, style, point in (("this run", "point", curve[-1]), ("naive", "naive", naive)):
        if point is not None:
            coverage, risk = point
            text = f"{coverage:.1%} answered, {risk:.1%} of them wrong"
            lines.append(Line(name, style, [(x(coverage), y(risk))], text))
    return Chart(
        "Risk and coverage",
        "share of the questions answered",
        "wrong among answers",
        _shares(x, 1),
        _shares(y, top),
        lines,
        ["answered", "wrong among them"],
        [[f"{c:.1%}", f"{r:.1%}"] for c, r in _thinned(curve)],
    )


def grade_histograms(grades: Mapping[Fate, Sequence[float | None]]) -> list[Histogram]:
    """One for each fate that has questions."""
    return [_histogram(name, grades[name]) for name in FATES if grades.get(name)]


def _histogram(name: Fate, grades: Sequence[float | None]) -> Histogram:
    known = sorted(grade for grade in grades if grade is not None)
    counts = [0] * BINS
    for grade in known:
        counts[min(BINS - 1, max(0, int(grade * BINS)))] += 1
    tallest = max(counts) or 1
    return Histogram(
        name,
        FATES[name],
        len(grades),
        len(grades) - len(known),
        known[len(known) // 2] if known else None,
        counts,
        [BIN_HEIGHT * count / tallest for count in counts],
    )


def _scale(start: float, end: float, low: float, high: float) -> Callable[[float], float]:
    return lambda value: round(start + (end - start) * (value - low) / (high - low), 1)


def _shares(place: Callable[[float], float], top: float) -> list[Tick]:
    """Ticks from 0 to `top`, five steps at most."""
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.25) if top / step <= 5.001)
    return [Tick(place(i * step), f"{i * step:.0%}") for i in range(int(top / step + 1.001))]


def _thinned(curve: Sequence[Point], most: int = 12) -> list[Point]:
    """At most so many points, the last one among them."""
    every = max(1, math.ceil(len(curve) / most))
    return list(curve[::-1][::every])[::-1]
