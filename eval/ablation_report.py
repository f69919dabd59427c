"""An ablation's figures: each technique's paired gain and cost, as JSON and as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.statistics import bootstrap_interval
from eval.techniques import Technique, switched_by

Rows = Mapping[int, Mapping[str, float]]
"""Values by the number of the question."""

COSTS = ("ms", "chat_calls", "usd")
NOT_A_GAIN = (*COSTS, "tokens", "loops")
SHOWN = {
    "search": ("nDCG@10", "hit@1", "R@5"),
    "run": ("correctness", "answered_wrong", "refusal_correctness", "hit@1"),
}
"""The columns of the table; the JSON has every metric."""


def report(technique: Technique, on: Rows, off: Rows) -> dict[str, Any]:
    """On less off, over the questions that have a metric on both sides; 95 % paired bootstrap
    intervals. Added milliseconds are the median difference, calls and dollars the mean."""
    both = sorted(on.keys() & off.keys())
    names = dict.fromkeys(name for n in both for name in (*on[n], *off[n]))
    gain: dict[str, Any] = {}
    for name in names:
        pairs = [(on[n][name], off[n][name]) for n in both if name in on[n] and name in off[n]]
        if name in NOT_A_GAIN or not pairs:
            continue
        differences = [a - b for a, b in pairs]
        gain[name] = {
            "on": _mean([a for a, _ in pairs]),
            "off": _mean([b for _, b in pairs]),
            "difference": _mean(differences),
            "interval": [round(end, 4) for end in bootstrap_interval(differences)],
            "n": len(pairs),
        }
    added = {cost: [on[n].get(cost, 0.0) - off[n].get(cost, 0.0) for n in both] for cost in COSTS}
    return {
        "technique": technique.name,
        "shipped": "on" if technique.shipped else "off",
        "settings": switched_by(technique),
        "when": technique.when,
        "n": len(both),
        "gain": gain,
        "added_ms": round(float(np.median(added["ms"])), 1) if both else None,
        "added_chat_calls": _mean(added["chat_calls"]) if both else None,
        "added_usd": round(float(np.mean(added["usd"])), 6) if both else None,
    }


def table(done: Mapping[str, Any]) -> list[str]:
    """Markdown: one row for each technique, then what was left out and why."""
    found = {name for row in done["techniques"] for name in row["gain"]}
    shown = SHOWN["run" if "correctness" in found else "search"]
    columns = ["technique", "ships", *shown, "added ms", "chat calls", "USD"]
    lines = [
        f"{done['dataset']}, {done['n']} questions: on less off, 95 % interval",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + " --- |" * len(columns),
    ]
    for row in done["techniques"]:
        gains = [_gain(row["gain"].get(name)) for name in shown]
        costs = [_cost(row["added_ms"], 1), _cost(row["added_chat_calls"], 2),
            _cost(row["added_usd"], 5)]  # fmt: skip
        lines.append("| " + " | ".join([row["technique"], row["shipped"], *gains, *costs]) + " |")
    lines += [""] if done["left_out"] else []
    lines += [f"left out: {name}: {why}" for name, why in done["left_out"].items()]
    return lines + [f"error: {error}" for error in done["errors"]]


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4)


def _gain(gain: Mapping[str, Any] | None) -> str:
    if gain is None:
        return "-"
    low, high = gain["interval"]
    return f"{gain['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"


def _cost(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:+.{digits}f}"
