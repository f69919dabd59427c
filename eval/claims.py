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
    Claim,
    Labels,
    Numbers,
    balanced_accuracy,
    claims_of,
    signs_of,
)
from eval.claim_scorers import baseline, checked, cross_validated, times
from eval.clustered import Weights, clustered_interval
from eval.datasets import sampled
from eval.statistics import expected_calibration_error
from graph.compose import Service, open_graph
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError

Scorer = Literal["service", "baseline9"]

BAR = 0.5
"""Where the service's probability, fitted with half of all supported, calls a claim supported."""
TIMED = 30
"""Claims that are checked one by one for the time they take."""


@dataclass(frozen=True)
class Half:
    """The claims of one dataset's report half that were judged, in one order; what the scorer gives
    each, and what the baseline calls supported. `tuned` is the baseline's cross-validated figure,
    `errors` counts what was not judged."""

    dataset: str
    documents: list[str]
    labels: Labels
    probabilities: Numbers
    baseline: Labels | None = None
    tuned: float | None = None
    errors: int = 0

    @property
    def told(self) -> Labels:
        return np.asarray(self.probabilities >= BAR)


async def benchmark_claims(
    settings: GraphSettings,
    files: Sequence[Path],
    scorer: Scorer,
    *,
    limit: int | None = None,
    sample: int | None = None,
) -> dict[str, Any]:
    """The report of one scorer over the report halves of all files, and of each file.

    A document lies on one side by its sha256. `service` is the service's own check, at the bar .5;
    `baseline9` a logistic regression, fitted on the tuning half of each file. `gain` is the
    service's balanced accuracy minus the baseline's, over all files the mean of theirs; intervals
    draw documents. A `sample` takes so many claims of each report half, by their id, and leaves out
    the baseline, which reads all of the other half, and the times. What was computed before, also
    by a run that was cut short, is taken from the data folder. Raises ConfigurationError for a bad
    row, and where a side lacks a label.
    """
    async with open_graph(settings) as service:
        if sample is None:
            halves = [await _half(service, file, scorer, limit) for file in files]
        else:
            halves = [await _sample(service, file, sample) for file in files]
        some = [row for file in files for row in claims_of(file, "report")[: TIMED // len(files)]]
        timed = scorer == "service" and sample is None
        took = await times(service, some) if timed else []
        parts = {
            **(judges_of(service) if scorer == "service" else {"scorer": scorer}),
            "embedder": service.corpus.embedder.fingerprint,
            "threshold": BAR if scorer == "service" else "of each tuning half",
            "documents": len({d for half in halves for d in half.documents}),
        }
    return {
        "dataset": "+".join(half.dataset for half in halves),
        "pipeline": scorer,
        "n": sum(len(half.labels) for half in halves),
        "errors": sum(half.errors for half in halves),
        **measured(halves, scorer),
        **({"sets": {half.dataset: _one(half, scorer) for half in halves}}),
        **({"latency_ms": latency(took)} if took else {}),
        "parts": parts,
    }


def measured(halves: Sequence[Half], scorer: Scorer) -> dict[str, Any]:
    """Means over the datasets with 95 % intervals over documents."""
    documents = [f"{h.dataset}\x00{d}" for h in halves for d in h.documents]
    metrics, intervals = {}, {}
    measures = _measures(scorer, with_gain=all(half.baseline is not None for half in halves))
    for name, measure in measures.items():

        def drawn(weights: Weights, measure: Measure = measure) -> float:
            ends = np.cumsum([0, *(len(h.labels) for h in halves)])
            own = [weights[a:b] for a, b in pairwise(ends.tolist())]
            return float(np.mean([measure(h, w) for h, w in zip(halves, own, strict=True)]))

        metrics[name] = round(drawn(np.ones(len(documents), dtype=np.int64)), 4)
        intervals[name] = rounded(clustered_interval(documents, drawn))
    return {"metrics": metrics, "intervals": intervals}


Measure = Callable[[Half, Weights], float]


def _measures(scorer: Scorer, *, with_gain: bool) -> dict[str, Measure]:
    def accuracy(half: Half, w: Weights) -> float:
        return balanced_accuracy(np.repeat(half.told, w), np.repeat(half.labels, w))

    def gain(half: Half, w: Weights) -> float:
        assert half.baseline is not None
        theirs = balanced_accuracy(np.repeat(half.baseline, w), np.repeat(half.labels, w))
        return accuracy(half, w) - theirs

    def auroc(half: Half, w: Weights) -> float:
        return _auroc(np.repeat(half.probabilities, w), np.repeat(half.labels, w))

    def ece(half: Half, w: Weights) -> float:
        return expected_calibration_error(
            np.repeat(half.probabilities, w), np.repeat(half.labels, w)
        )

    if scorer == "baseline9":
        return {"balanced_accuracy": accuracy}
    own: dict[str, Measure] = {"balanced_accuracy": accuracy, "auroc": auroc, "ece": ece}
    return {**own, "gain": gain} if with_gain else own


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
    given = told.tolist() if scorer == "baseline9" else await checked(service, report)
    tuned = cross_validated(signs["tune"], labels, [row.doc for row in tune])
    return _judged(file, report, given, told, tuned)


async def _sample(service: Service, file: Path, sample: int) -> Half:
    rows = sampled(claims_of(file, "report"), sample)
    return _judged(file, rows, await checked(service, rows))


def _judged(
    file: Path,
    rows: Sequence[Claim],
    given: Sequence[float | None],
    told: Labels | None = None,
    tuned: float | None = None,
) -> Half:
    """Without the claims that the check gave no verdict on, which are counted."""
    kept = np.array([one is not None for one in given])
    own = [row for row, keep in zip(rows, kept, strict=True) if keep]
    if {row.label for row in own} != {0, 1}:
        raise ConfigurationError(f"{file}: needs verdicts on supported and other claims")
    return Half(
        dataset="+".join(dict.fromkeys(row.dataset for row in own)),
        documents=[row.doc for row in own],
        labels=np.array([row.label == 1 for row in own]),
        probabilities=np.array([one for one in given if one is not None], dtype=float),
        baseline=told[kept] if told is not None else None,
        tuned=tuned,
        errors=int((~kept).sum()),
    )


def judges_of(service: Service) -> dict[str, Any]:
    """What judges claims, for a report."""
    chat = service.settings.chat
    named = {"scorer": type(service.services.checker).__name__}
    if chat.model is None:
        return named
    return named | {"chat": chat.lite_model or chat.model, "verdicts": chat.verdicts}


def _one(half: Half, scorer: Scorer) -> dict[str, Any]:
    found = {
        "n": len(half.labels),
        "errors": half.errors,
        "documents": len(set(half.documents)),
        "supported": round(float(half.labels.mean()), 4),
        **measured([half], scorer),
    }
    if half.baseline is None or half.tuned is None:
        return found
    return found | {
        "baseline9": round(balanced_accuracy(half.baseline, half.labels), 4),
        "baseline9_cross_validated": round(half.tuned, 4),
    }


def rounded(interval: tuple[float, float]) -> list[float]:
    return [round(end, 4) for end in interval]
