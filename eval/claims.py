"""Measures the grounding check on rows of (document, claim, supported?), as in LLM-AggreFact.

Tang et al., "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents" (EMNLP 2024).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from eval.benchmark import latency
from eval.claim_rows import (
    Labels,
    NearMiss,
    Numbers,
    balanced_accuracy,
    claims_of,
    near_misses,
    signs_of,
)
from eval.claim_scorers import baseline, checked, cross_validated, times
from eval.clustered import Weights, clustered_interval
from eval.statistics import bootstrap_interval, expected_calibration_error
from graph.compose import Service, open_graph
from graph.settings import GraphSettings

Scorer = Literal["service", "baseline9"]

BAR = 0.5
"""Where the service's probability, fitted with half of all supported, calls a claim supported."""
TIMED = 30
"""Claims that are checked one by one for the time they take."""


@dataclass(frozen=True)
class Half:
    """The claims of one dataset's report half, in one order; what the scorer gives each, and what
    the baseline calls supported. `tuned` is the baseline's cross-validated figure."""

    dataset: str
    documents: list[str]
    labels: Labels
    probabilities: Numbers
    baseline: Labels
    tuned: float

    @property
    def told(self) -> Labels:
        return np.asarray(self.probabilities >= BAR)


async def benchmark_claims(
    settings: GraphSettings, files: Sequence[Path], scorer: Scorer, *, limit: int | None = None
) -> dict[str, Any]:
    """The report of one scorer over the report halves of all files, and of each file.

    A document lies on one side by its sha256. `service` is the service's own check, at the bar .5;
    `baseline9` a logistic regression, fitted on the tuning half of each file. `gain` is the
    service's balanced accuracy minus the baseline's, over all files the mean of theirs; intervals
    draw documents. What was computed before, also by a run that was cut short, is taken from the
    data folder. Raises ConfigurationError for a bad row, and where a side lacks a label.
    """
    async with open_graph(settings) as service:
        halves = [await _half(service, file, scorer, limit) for file in files]
        some = [row for file in files for row in claims_of(file, "report")[: TIMED // len(files)]]
        took = await times(service, some) if scorer == "service" else []
        parts = {
            "scorer": type(service.services.checker).__name__ if scorer == "service" else scorer,
            "embedder": service.corpus.embedder.fingerprint,
            "threshold": BAR if scorer == "service" else "of each tuning half",
            "documents": len({d for half in halves for d in half.documents}),
        }
    return {
        "dataset": "+".join(half.dataset for half in halves),
        "pipeline": scorer,
        "n": sum(len(half.labels) for half in halves),
        **measured(halves, with_gain=scorer == "service"),
        **({"sets": {half.dataset: _one(half, scorer) for half in halves}}),
        **({"latency_ms": latency(took)} if took else {}),
        "parts": parts,
    }


async def benchmark_near_misses(
    settings: GraphSettings, file: Path, half: Literal["open", "frozen"]
) -> dict[str, Any]:
    """How many claims of the pairs the service's check judges rightly at the bar, and in how many
    pairs the supported one is the more probable; level pairs count half."""
    pairs = near_misses(file, half)
    async with open_graph(settings) as service:
        claims = [claim for pair in pairs for claim in pair.claims]
        given = np.array(await checked(service, claims)).reshape(-1, 2)
        named = type(service.services.checker).__name__
    right = ((given[:, 0] >= BAR).astype(float) + (given[:, 1] < BAR)) / 2
    ahead = np.where(given[:, 0] == given[:, 1], 0.5, given[:, 0] > given[:, 1])
    values = {"accuracy": right, "pair_accuracy": ahead}
    return {
        "dataset": f"near_misses {half}",
        "pipeline": "service",
        "n": len(pairs),
        "metrics": {name: round(float(own.mean()), 4) for name, own in values.items()},
        "intervals": {name: _rounded(bootstrap_interval(own.tolist())) for name, own in
                      values.items()},
        "by_kind": _by_kind(pairs, right),
        "parts": {"scorer": named, "threshold": BAR},
    }  # fmt: skip


def measured(halves: Sequence[Half], *, with_gain: bool) -> dict[str, Any]:
    """Means over the datasets with 95 % intervals over documents."""
    documents = [f"{h.dataset}\x00{d}" for h in halves for d in h.documents]
    metrics, intervals = {}, {}
    for name, measure in _measures(with_gain).items():

        def drawn(weights: Weights, measure: Measure = measure) -> float:
            ends = np.cumsum([0, *(len(h.labels) for h in halves)])
            own = [weights[a:b] for a, b in pairwise(ends.tolist())]
            return float(np.mean([measure(h, w) for h, w in zip(halves, own, strict=True)]))

        metrics[name] = round(drawn(np.ones(len(documents), dtype=np.int64)), 4)
        intervals[name] = _rounded(clustered_interval(documents, drawn))
    return {"metrics": metrics, "intervals": intervals}


Measure = Callable[[Half, Weights], float]


def _measures(with_gain: bool) -> dict[str, Measure]:
    def accuracy(half: Half, w: Weights) -> float:
        return balanced_accuracy(np.repeat(half.told, w), np.repeat(half.labels, w))

    def gain(half: Half, w: Weights) -> float:
        theirs = balanced_accuracy(np.repeat(half.baseline, w), np.repeat(half.labels, w))
        return accuracy(half, w) - theirs

    def auroc(half: Half, w: Weights) -> float:
        return _auroc(np.repeat(half.probabilities, w), np.repeat(half.labels, w))

    def ece(half: Half, w: Weights) -> float:
        return expected_calibration_error(
            np.repeat(half.probabilities, w), np.repeat(half.labels, w)
        )

    if not with_gain:
        return {"balanced_accuracy": accuracy}
    return {"balanced_accuracy": accuracy, "auroc": auroc, "ece": ece, "gain": gain}


def _auroc(probabilities: Numbers, labels: Labels) -> float:
    from sklearn.metrics import roc_auc_score

    if labels.all() or not labels.any():
        return float("nan")
    return float(roc_auc_score(labels, probabilities))


async def _half(service: Service, file: Path, scorer: Scorer, limit: int | None) -> Half:
    tune, report = (claims_of(file, side)[:limit] for side in ("tune", "report"))
    signs = {"tune": await signs_of(service.corpus, tune),
             "report": await signs_of(service.corpus, report)}  # fmt: skip
    labels = np.array([row.label == 1 for row in tune])
    told = baseline(signs["tune"], labels, signs["report"])
    given = told if scorer == "baseline9" else await checked(service, report)
    return Half(
        dataset="+".join(dict.fromkeys(row.dataset for row in report)),
        documents=[row.doc for row in report],
        labels=np.array([row.label == 1 for row in report]),
        probabilities=np.array(given, dtype=float),
        baseline=told,
        tuned=cross_validated(signs["tune"], labels, [row.doc for row in tune]),
    )


def _one(half: Half, scorer: Scorer) -> dict[str, Any]:
    return {
        "n": len(half.labels),
        "documents": len(set(half.documents)),
        "supported": round(float(half.labels.mean()), 4),
        **measured([half], with_gain=scorer == "service"),
        "baseline9": round(balanced_accuracy(half.baseline, half.labels), 4),
        "baseline9_cross_validated": round(half.tuned, 4),
    }


def _by_kind(pairs: Sequence[NearMiss], right: Numbers) -> dict[str, float]:
    kinds = np.array([f"{pair.kind} {pair.language}" for pair in pairs])
    return {kind: round(float(right[kinds == kind].mean()), 3) for kind in np.unique(kinds)}


def _rounded(interval: tuple[float, float]) -> list[float]:
    return [round(end, 4) for end in interval]
