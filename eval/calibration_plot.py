"""A calibration as a picture: what it scores, whether it means it, what each threshold does."""

from pathlib import Path
from typing import Any

import numpy as np

from eval.held_out import HeldOut
from eval.statistics import BINS

RIGHT, WRONG, REFUSED, NEUTRAL = "#2a7f62", "#c0392b", "#c9ced6", "#5b6472"


def plot(held_out: HeldOut, *, upper: float, lower: float, file: Path) -> None:
    """Writes an SVG of three panels; the same values give the same bytes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "crag", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(13, 4), layout="constrained")
        scores, reliability, outcomes = figure.subplots(1, 3)
        _scores(scores, held_out, upper, lower)
        _reliability(reliability, held_out)
        _outcomes(outcomes, held_out, upper)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def _scores(axes: Any, held_out: HeldOut, upper: float, lower: float) -> None:
    """As shares of each kind: relevant passages are few, and would be lost beside the others."""
    edges = np.linspace(0, 1, 26)
    for label, colour, name in ((False, NEUTRAL, "irrelevant"), (True, RIGHT, "relevant")):
        values = held_out.passages[held_out.labels == label]
        weights = np.full(len(values), 1 / max(1, len(values)))
        axes.hist(values, edges, weights=weights, color=colour, alpha=0.65,
                  label=f"{name} ({len(values)})")  # fmt: skip
    for name, value in (("lower", lower), ("upper", upper)):
        axes.axvline(value, color="black", linewidth=1, linestyle=":" if name == "lower" else "--",
                     label=f"{name} {value:g}")  # fmt: skip
    axes.set(title="Passages by their probability", xlabel="probability that it answers",
             ylabel="share of its kind (log)", yscale="log", xlim=(0, 1))  # fmt: skip
    axes.legend(frameon=False)


def _reliability(axes: Any, held_out: HeldOut) -> None:
    axes.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1, linestyle=":")
    for values, labels, colour, name in (
        (held_out.sentences, held_out.states, RIGHT, "sentences"),
        (held_out.passages, held_out.labels, NEUTRAL, "passages"),
    ):
        bins = np.minimum((values * BINS).astype(int), BINS - 1)
        kept = [b for b in range(BINS) if (bins == b).any()]
        means = [values[bins == b].mean() for b in kept]
        shares = [labels[bins == b].mean() for b in kept]
        axes.plot(means, shares, marker="o", markersize=4, color=colour, label=name)
    axes.set(title="Said and found", xlabel="probability", ylabel="share that answers",
             xlim=(0, 1), ylim=(0, 1))  # fmt: skip
    axes.legend(frameon=False)


def _outcomes(axes: Any, held_out: HeldOut, upper: float) -> None:
    thresholds = np.linspace(0, 1, 101)
    probabilities = np.array([one.probability for one in held_out.best])
    right = np.array([one.right for one in held_out.best], dtype=bool)
    told = probabilities[None, :] >= thresholds[:, None]
    shares = [(told & right).mean(axis=1), (told & ~right).mean(axis=1), (~told).mean(axis=1)]
    axes.stackplot(thresholds, shares, colors=(RIGHT, WRONG, REFUSED),
                   labels=("right", "wrong", "refused"))  # fmt: skip
    axes.axvline(upper, color="black", linewidth=1, linestyle="--", label=f"upper {upper:g}")
    axes.set(title=f"Questions by threshold ({len(right)})", xlabel="upper", ylabel="share",
             xlim=(0, 1), ylim=(0, 1))  # fmt: skip
    axes.legend(framealpha=1, loc="lower right")
