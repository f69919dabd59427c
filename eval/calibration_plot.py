"""A calibration as a picture: what it scores, whether it means it, what each threshold does."""

from pathlib import Path
from typing import Any

import numpy as np

from eval.held_out import HeldOut
from eval.statistics import BINS

RIGHT, WRONG, REFUSED, NEUTRAL = "#2a7f62", "#c0392b", "#c9ced6", "#5b6472"


def plot(held_out: HeldOut, *, upper: float, lower: float, file: Path) -> None:
    """Writes an SVG of three panels, one below the other, so that a phone shows them as large as a
    desk does; the same values give the same bytes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with rc_context({"svg.hashsalt": "crag", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(5.4, 11), layout=ConstrainedLayoutEngine(hspace=0.06))
        scores, reliability, outcomes = figure.subplots(3, 1)
        _scores(scores, held_out, upper, lower)
        _reliability(reliability, held_out)
        _outcomes(outcomes, held_out, upper)
        for axes in (scores, reliability, outcomes):
            # Below the panel: there is no corner that the data never reach.
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, frameon=False)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def _scores(axes: Any, held_out: HeldOut, upper: float, lower: float) -> None:
    """As shares of each kind: relevant passages are few, and would be lost beside the others."""
    edges = np.linspace(0, 1, 26)
    least = 0.5 / max(1, len(held_out.passages))  # half a passage: a log scale has no zero
    for label, colour, name, filled in (
        (False, REFUSED, "do not answer", True),
        (True, RIGHT, "answer", False),
    ):
        values = held_out.passages[held_out.labels == label]
        shares = np.histogram(values, edges)[0] / max(1, len(values))
        axes.stairs(shares, edges, color=colour, linewidth=1.8, fill=filled, baseline=least,
                    label=f"passages that {name} ({len(values):,})")  # fmt: skip
    for name, value in (("lower", lower), ("upper", upper)):
        axes.axvline(value, color="black", linewidth=1, linestyle=":" if name == "lower" else "--",
                     label=f"{name} {value:g}")  # fmt: skip
    axes.set(title="Passages by their probability", xlabel="probability that it answers",
             ylabel="share of its kind (log scale)", yscale="log", xlim=(-0.01, 1),
             ylim=(least, 1.5))  # fmt: skip


def _reliability(axes: Any, held_out: HeldOut) -> None:
    axes.plot([0, 1], [0, 1], color="black", linewidth=1, linestyle=":", label="as said")
    for values, labels, colour, mark, name in (
        (held_out.sentences, held_out.states, RIGHT, "o", "sentences"),
        (held_out.passages, held_out.labels, NEUTRAL, "s", "passages, by their best sentence"),
    ):
        bins = np.minimum((values * BINS).astype(int), BINS - 1)
        kept = [b for b in range(BINS) if (bins == b).any()]
        means = [values[bins == b].mean() for b in kept]
        shares = [labels[bins == b].mean() for b in kept]
        axes.plot(means, shares, marker=mark, markersize=4, color=colour, label=name)
    axes.set(title="Reliability: what was said, and how much of it answers",
             xlabel="probability that was said", ylabel="share that answers",
             xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))  # fmt: skip


def _outcomes(axes: Any, held_out: HeldOut, upper: float) -> None:
    thresholds = np.linspace(0, 1, 101)
    probabilities = np.array([one.probability for one in held_out.best])
    right = np.array([one.right for one in held_out.best], dtype=bool)
    told = probabilities[None, :] >= thresholds[:, None]
    shares = [(told & right).mean(axis=1), (told & ~right).mean(axis=1), (~told).mean(axis=1)]
    names = ("answered right", "answered wrong", "refused")
    areas = axes.stackplot(thresholds, shares, colors=(RIGHT, WRONG, REFUSED), labels=names)
    areas[1].set(
        hatch="///", edgecolor="white", linewidth=0
    )  # red and green alone look alike to some
    axes.axvline(upper, color="black", linewidth=1, linestyle="--", label=f"upper {upper:g}")
    axes.set(title=f"What each threshold does to {len(right)} questions",
             xlabel="threshold (upper)", ylabel="share of the questions",
             xlim=(0, 1), ylim=(0, 1))  # fmt: skip
