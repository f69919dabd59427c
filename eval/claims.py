"""Measures the grounding check on rows of (document, claim, supported?), as in LLM-AggreFact.

Tang et al., "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents" (EMNLP 2024).
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from eval.benchmark import latency
from eval.claim_scorers import SIGNS, Timed, checked, overlapping
from eval.clustered import Weights, clustered_interval
from eval.datasets import on_side
from eval.kept import Kept
from eval.labelled_rows import read_rows
from eval.statistics import expected_calibration_error
from graph.compose import Service, open_graph
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError

Scorer = Literal["service", "overlap"]
Numbers = NDArray[np.float64]
Labels = NDArray[np.bool_]

KEPT = "claim-signs.jsonl"
BATCH = 64
"""Claims that are encoded in one call, and lost where a run is cut short."""
EVERY = 5
"""Batches between two lines of progress."""


class Claim(BaseModel):
    """`label` is 1 where the document supports the claim, else 0."""

    dataset: str
    id: str
    doc: str = Field(min_length=1)
    claim: str = Field(min_length=1)
    label: Literal[0, 1]


@dataclass(frozen=True)
class Half:
    """Claims of one side, in one order: their labels, probabilities and documents."""

    labels: Labels
    probabilities: Numbers
    documents: list[str]


async def benchmark_claims(
    settings: GraphSettings, file: Path, scorer: Scorer, *, limit: int | None = None
) -> dict[str, Any]:
    """The report of one scorer: `service` is its own grounding check, `overlap` a baseline.

    A document lies on one side by its sha256. What is chosen or fitted, the threshold and the
    baseline's weights, is so on the even side; every figure is of the other. Signs that were
    computed before, also by a run that was cut short, are taken from the data folder. Raises
    ConfigurationError for a bad row, and where a side lacks a label.
    """
    rows = read_rows(file, Claim)[:limit]
    sides = {side: [row for row in rows if on_side(row.doc, side)] for side in ("tune", "report")}
    for side, own in sides.items():
        if {row.label for row in own} != {0, 1}:
            raise ConfigurationError(
                f"{file}: the {side} side of {len(rows)} claims needs supported and other ones"
            )
    async with open_graph(settings) as service:
        named = type(service.services.checker).__name__ if scorer == "service" else "overlap"
        timed = {side: await _scored(service, own, scorer) for side, own in sides.items()}
        parts = {"scorer": named, "embedder": service.corpus.embedder.fingerprint}
    values = {side: _matrix(own, scorer) for side, own in timed.items()}
    labels = {side: np.array([row.label == 1 for row in own]) for side, own in sides.items()}
    probabilities = _probabilities(values, labels["tune"], scorer)
    threshold = best_threshold(probabilities["tune"], labels["tune"])
    half = Half(labels["report"], probabilities["report"], [r.doc for r in sides["report"]])
    return {
        "dataset": "+".join(dict.fromkeys(row.dataset for row in rows)),
        "pipeline": scorer,
        "n": len(sides["report"]),
        **measured(half, threshold),
        "latency_ms": latency([one.ms for one in timed["report"]]),
        "parts": parts
        | {
            "threshold": threshold,
            "tuned_on": len(sides["tune"]),
            "documents": len(set(half.documents)),
            "supported": round(float(half.labels.mean()), 4),
        },
    }


def best_threshold(probabilities: Numbers, labels: Labels) -> float:
    """From where calling a claim supported gives the best balanced accuracy; in (0, 1]."""
    tried = np.unique(np.round(probabilities[probabilities > 0], 4)).tolist() or [1.0]
    scores = [balanced_accuracy(probabilities >= threshold, labels) for threshold in tried]
    return float(tried[int(np.argmax(scores))])


def balanced_accuracy(supported: Labels, labels: Labels) -> float:
    """The mean of the shares of supported and of other claims that were told as such; NaN where
    one kind is missing."""
    if labels.all() or not labels.any():
        return float("nan")
    return float((supported[labels].mean() + (~supported[~labels]).mean()) / 2)


def measured(half: Half, threshold: float) -> dict[str, Any]:
    """Balanced accuracy, AUROC and ECE, with 95 % intervals over documents, not claims."""
    metrics, intervals = {}, {}
    for name, measure in _measures(threshold).items():

        def drawn(weights: Weights, measure: Measure = measure) -> float:
            return measure(np.repeat(half.probabilities, weights), np.repeat(half.labels, weights))

        metrics[name] = round(measure(half.probabilities, half.labels), 4)
        intervals[name] = [round(end, 4) for end in clustered_interval(half.documents, drawn)]
    return {"metrics": metrics, "intervals": intervals}


Measure = Callable[[Numbers, Labels], float]


def _measures(threshold: float) -> dict[str, Measure]:
    return {
        "balanced_accuracy": lambda p, labels: balanced_accuracy(p >= threshold, labels),
        "auroc": _auroc,
        "ece": expected_calibration_error,
    }


def _auroc(probabilities: Numbers, labels: Labels) -> float:
    from sklearn.metrics import roc_auc_score

    if labels.all() or not labels.any():
        return float("nan")
    return float(roc_auc_score(labels, probabilities))


async def _scored(service: Service, rows: Sequence[Claim], scorer: Scorer) -> list[Timed]:
    kept = Kept(service.corpus.folder.path / KEPT)
    timed: list[Timed] = []
    for start in range(0, len(rows), BATCH):
        pairs = [(row.doc, row.claim) for row in rows[start : start + BATCH]]
        timed += (
            await checked(service.services.checker, pairs)
            if scorer == "service"
            else await overlapping(service.corpus.embedder, kept, pairs)
        )
        if (start // BATCH) % EVERY == 0 or len(timed) == len(rows):
            print(f"{len(timed)} of {len(rows)} claims", file=sys.stderr, flush=True)
    return timed


def _matrix(timed: Sequence[Timed], scorer: Scorer) -> Numbers:
    names = SIGNS if scorer == "overlap" else ("probability",)
    return np.array([[one.values[name] for name in names] for one in timed], dtype=float)


def _probabilities(values: dict[str, Numbers], tune: Labels, scorer: Scorer) -> dict[str, Numbers]:
    """The service's own, or those of a logistic regression over the signs of the tuning side."""
    if scorer == "service":
        return {side: own[:, 0] for side, own in values.items()}
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(values["tune"], tune)
    return {side: model.predict_proba(own)[:, 1] for side, own in values.items()}
