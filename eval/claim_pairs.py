"""Measures the grounding check on near misses: claims that nearly follow, beside ones that do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from eval.claim_rows import NearMiss, Numbers, near_misses
from eval.claim_scorers import checked
from eval.claims import BAR, judges_of, rounded
from eval.datasets import sampled
from eval.statistics import bootstrap_interval
from graph.compose import open_graph
from graph.settings import GraphSettings
from ingest.errors import DependencyError


async def benchmark_near_misses(
    settings: GraphSettings,
    file: Path,
    half: Literal["open", "frozen"],
    *,
    sample: int | None = None,
) -> dict[str, Any]:
    """How many claims of the pairs the service's check judges rightly at the bar, and in how many
    pairs the supported one is the more probable; level pairs count half. `accepted` is the share of
    the supported ones that are told. A pair with an error is not scored; a `sample` takes so many
    pairs, by their id."""
    pairs = sampled(near_misses(file, half), sample)
    async with open_graph(settings) as service:
        claims = [claim for pair in pairs for claim in pair.claims]
        verdicts = await checked(service, claims)
        judges = judges_of(service)
    both = [None not in verdicts[n : n + 2] for n in range(0, len(verdicts), 2)]
    given = np.array(verdicts, dtype=float).reshape(-1, 2)[both]
    pairs = [pair for pair, judged in zip(pairs, both, strict=True) if judged]
    if not pairs:
        raise DependencyError(f"the check judged no pair of {file}")
    accepted = (given[:, 0] >= BAR).astype(float)
    right = (accepted + (given[:, 1] < BAR)) / 2
    ahead = np.where(given[:, 0] == given[:, 1], 0.5, given[:, 0] > given[:, 1])
    values = {"accuracy": right, "pair_accuracy": ahead, "accepted": accepted}
    return {
        "dataset": f"near_misses {half}",
        "pipeline": "service",
        "n": len(pairs),
        "errors": verdicts.count(None),
        "metrics": {name: round(float(own.mean()), 4) for name, own in values.items()},
        "intervals": {name: rounded(bootstrap_interval(own.tolist())) for name, own in
                      values.items()},
        "by_kind": _by_kind(pairs, right),
        "parts": {**judges, "threshold": BAR},
    }  # fmt: skip


def _by_kind(pairs: Sequence[NearMiss], right: Numbers) -> dict[str, float]:
    kinds = np.array([f"{pair.kind} {pair.language}" for pair in pairs])
    return {kind: round(float(right[kinds == kind].mean()), 3) for kind in np.unique(kinds)}
