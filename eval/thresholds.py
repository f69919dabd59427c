"""From which probability a passage counts, and what that does to the questions of a dataset."""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.labelled_passages import Passage
from eval.sentence_rows import Rows, dataset_of
from eval.statistics import expected_calibration_error

KEEP = 5
"""Passages of each question that the thresholds are chosen on: those a run grades first."""


@dataclass(frozen=True)
class Best:
    """The most probable sentence of a question, and whether it is right.

    `group` names the question; `found` says whether a passage that answers is among its first KEEP.
    """

    group: str
    dataset: str
    probability: float
    right: bool
    found: bool


def best_sentences(
    passages: Sequence[Passage],
    rows: Rows,
    probabilities: NDArray[np.float64],
    *,
    without: Collection[str],
) -> list[Best]:
    """One for each question, over the first KEEP passages; datasets in `without` are left out."""
    first = {i for i in _first_graded(passages) if dataset_of(passages[i]) not in without}
    whole = _without_unanswerable(passages)
    kept = {
        i
        for i in first
        if not (
            passages[i].label
            and dataset_of(passages[i]) in whole
            and _made_unanswerable(passages[i].group)
        )
    }
    found = {passages[i].group for i in kept if passages[i].label}
    best: dict[str, Best] = {}
    for row, place in enumerate(rows.passage):
        if place not in kept:
            continue
        passage = passages[place]
        one = Best(
            passage.group,
            dataset_of(passage),
            float(probabilities[row]),
            bool(rows.states[row]),
            passage.group in found,
        )
        known = best.get(passage.group)
        if known is None or one.probability > known.probability:
            best[passage.group] = one
    return list(best.values())


def threshold_for(best: Sequence[Best], precision: float) -> float:
    """The lowest probability from which they reach `precision`; 0.99 where none does."""
    for threshold in np.arange(0.02, 0.99, 0.01):
        if _precision(best, float(threshold)) >= precision:
            return round(float(threshold), 2)
    return 0.99


def _precision(best: Sequence[Best], threshold: float) -> float:
    """Averaged over the datasets that have a sentence above the threshold."""
    kept: dict[str, list[bool]] = {}
    for one in best:
        if one.probability >= threshold:
            kept.setdefault(one.dataset, []).append(one.right)
    return float(np.mean([np.mean(right) for right in kept.values()])) if kept else 0.0


def lower_bound(
    passages: Sequence[Passage], rows: Rows, probabilities: NDArray[np.float64], recall: float
) -> float:
    """The probability that `recall` of the passages that answer reach."""
    top = passage_probabilities(passages, rows, probabilities)
    positives = np.sort([top[i] for i in _first_graded(passages) if passages[i].label])
    if not len(positives):
        return 0.0
    place = min(int((1 - recall) * len(positives)), len(positives) - 1)
    return round(float(positives[place]), 3)


def passage_probabilities(
    passages: Sequence[Passage], rows: Rows, probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A passage's is that of its best sentence; 0 where none may answer."""
    top = np.zeros(len(passages))
    np.maximum.at(top, rows.passage, probabilities)
    return top


def measured_on(
    passages: Sequence[Passage],
    rows: Rows,
    probabilities: NDArray[np.float64],
    best: Sequence[Best],
    upper: float,
) -> dict[str, Any]:
    """Cross-validated: AUROC of passages by dataset, Brier score and expected calibration error
    of sentences, and what `upper` does to the questions of each dataset. AUROC is None where all
    passages of a dataset have one label."""
    top = passage_probabilities(passages, rows, probabilities)
    labels = np.array([passage.label for passage in passages])
    datasets = np.array([dataset_of(passage) for passage in passages])
    names = sorted(set(datasets.tolist()))
    return {
        "auroc": {name: _auroc(labels[datasets == name], top[datasets == name]) for name in names},
        "brier": round(float(np.mean((probabilities - rows.states) ** 2)), 4),
        "ece": round(expected_calibration_error(probabilities, rows.states), 4),
        "at_upper": {
            name: _answered([b for b in best if b.dataset == name], upper) for name in names
        },
    }


def _auroc(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float | None:
    from sklearn.metrics import roc_auc_score

    if labels.all() or not labels.any():
        return None
    return round(float(roc_auc_score(labels, probabilities)), 4)


def _answered(best: Sequence[Best], upper: float) -> dict[str, int]:
    told = [one.right for one in best if one.probability >= upper]
    return {"questions": len(best), "answered": len(told), "right": sum(told)}


def _first_graded(passages: Sequence[Passage]) -> set[int]:
    seen: Counter[str] = Counter()
    first = set()
    for i, passage in enumerate(passages):
        seen[passage.group] += 1
        if seen[passage.group] <= KEEP:
            first.add(i)
    return first


def _without_unanswerable(passages: Sequence[Passage]) -> set[str]:
    """Datasets in which at least nine of ten questions have a passage that answers."""
    questions: dict[str, dict[str, bool]] = {}
    for passage in passages:
        known = questions.setdefault(dataset_of(passage), {})
        known[passage.group] = known.get(passage.group, False) or passage.label
    return {name for name, known in questions.items() if np.mean(list(known.values())) >= 0.9}


def _made_unanswerable(group: str) -> bool:
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % 4 < 2
