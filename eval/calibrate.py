"""Fits the grader: from labelled passages to a calibration file with its measurements."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.labelled_passages import Passage
from eval.statistics import expected_calibration_error
from graph.adapters.answer_scorer import all_signs
from graph.adapters.calibration import AnswerModel, CalibrationFile
from ingest.errors import ConfigurationError

STRENGTH = 0.3
"""Inverse regularisation, chosen by cross-validation on the tuning halves among 1, 0.3 and 0.05."""

SHARES = {"triples": 0.2}
"""Weight of a dataset beside the others' 1. Triples are made to mislead: at full weight the grader
distrusts what ordinary questions find."""

FOLDS = 5
KEEP = 5
"""Passages of each question that the thresholds are chosen on: those a run grades first."""

PARTIAL = 0.9
"""What of the wanted precision an answer from ambiguous evidence must reach."""

FEWEST = 40
"""Sentences that answer, without which a fit says nothing."""

INDEX_SIGNS = ("passage_bm25", "passage_dense")
VECTOR_SIGNS = (
    "late", "late_weakest", "late_lost", "cosine", "passage_cosine",
    "passage_late", "passage_late_weakest", "passage_sentence_coverage",
    "passage_sentence_cosine", "passage_type_missing", "passage_length",
)  # fmt: skip
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "full": (),
    "words": VECTOR_SIGNS,
    "web": INDEX_SIGNS,
}
"""The signs that each feature set does without."""


@dataclass(frozen=True)
class Rows:
    """Sentences that may answer: `signs` has a column for each name."""

    names: list[str]
    signs: NDArray[np.float64]
    states: NDArray[np.bool_]
    passage: NDArray[np.int64]


def calibrate(
    passages: Sequence[Passage], *, model: str, precision: float, recall: float
) -> CalibrationFile:
    """A model with its thresholds for each feature set.

    Thresholds come from cross-validation that never parts a question, over the first KEEP
    passages of each; where a dataset has only answerable questions, half of them are made
    unanswerable by leaving out what answers them. `upper` is the lowest probability from which
    the best sentences are right in `precision` of the cases, averaged over datasets; `partial`
    likewise for PARTIAL of it; `lower` keeps `recall` of the passages that answer. Raises
    ConfigurationError for fewer than FEWEST sentences that answer.
    """
    rows = sentence_rows(passages)
    if rows.states.sum() < FEWEST:
        raise ConfigurationError(
            f"{int(rows.states.sum())} sentences that answer a question were found; "
            f"{FEWEST} are needed"
        )
    answers, measured = {}, {}
    for name, left_out in LEFT_OUT.items():
        kept = [i for i, sign in enumerate(rows.names) if sign not in left_out]
        held_out = _cross_validated(passages, rows, kept)
        best = _best_sentences(passages, rows, held_out)
        upper = _threshold(best, precision)
        fitted = _fit(passages, rows, kept, np.arange(len(rows.states)))
        answers[name] = fitted.model_copy(
            update={
                "upper": upper,
                "partial": min(upper, _threshold(best, precision * PARTIAL)),
                "lower": min(upper, _lower(passages, rows, held_out, recall)),
            }
        )
        measured[name] = _measured(passages, rows, held_out, best, upper)
    return CalibrationFile(
        model=model,
        answers=answers,
        fitted_on={
            "passages": dict(Counter(_dataset(p) for p in passages)),
            "that_answer": dict(Counter(_dataset(p) for p in passages if p.label)),
            "precision": precision,
            "recall": recall,
        },
        measured=measured,
    )


def sentence_rows(passages: Sequence[Passage]) -> Rows:
    """One row for each sentence that may answer."""
    signs, states, places = [], [], []
    for place, passage in enumerate(passages):
        found = all_signs(passage.question, passage.candidate, passage.vectors)
        for (sentence, values), label in zip(found, passage.sentence_labels, strict=True):
            if sentence.eligible:
                signs.append(values)
                states.append(label)
                places.append(place)
    names = sorted(signs[0]) if signs else []
    matrix = np.array([[row[name] for name in names] for row in signs], dtype=float)
    return Rows(names, matrix, np.array(states, dtype=bool), np.array(places, dtype=np.int64))


@dataclass(frozen=True)
class Best:
    """The most probable sentence of a question, and whether it is right."""

    dataset: str
    probability: float
    right: bool


def _fit(
    passages: Sequence[Passage], rows: Rows, kept: list[int], train: NDArray[Any]
) -> AnswerModel:
    """An L2 logistic regression in which every dataset weighs the same, but for SHARES."""
    from sklearn.linear_model import LogisticRegression

    matrix = rows.signs[train][:, kept]
    mean, scale = matrix.mean(axis=0), matrix.std(axis=0)
    scale[scale < 1e-9] = 1.0
    datasets = np.array([_dataset(passages[i]) for i in rows.passage[train]])
    sizes = Counter(datasets.tolist())
    size = len(train) / len(sizes)
    weights = np.array([SHARES.get(name, 1.0) * size / sizes[name] for name in datasets])
    model = LogisticRegression(C=STRENGTH, max_iter=3000)
    model.fit((matrix - mean) / scale, rows.states[train], sample_weight=weights)
    return AnswerModel(
        signs=[rows.names[i] for i in kept],
        mean=_rounded(mean),
        scale=_rounded(scale),
        weights=_rounded(model.coef_[0]),
        bias=round(float(model.intercept_[0]), 5),
        upper=1.0,
        partial=1.0,
        lower=0.0,
    )


def _cross_validated(
    passages: Sequence[Passage], rows: Rows, kept: list[int]
) -> NDArray[np.float64]:
    from sklearn.model_selection import GroupKFold

    groups = [passages[i].group for i in rows.passage]
    probabilities = np.zeros(len(rows.states))
    for train, test in GroupKFold(FOLDS).split(groups, groups=groups):
        model = _fit(passages, rows, kept, train)
        standard = (rows.signs[test][:, kept] - model.mean) / model.scale
        odds = standard @ np.array(model.weights) + model.bias
        probabilities[test] = 1 / (1 + np.exp(-odds))
    return probabilities


def _best_sentences(
    passages: Sequence[Passage], rows: Rows, probabilities: NDArray[np.float64]
) -> list[Best]:
    first = {i for i in _first_graded(passages) if _dataset(passages[i]) not in SHARES}
    whole = _without_unanswerable(passages)
    best: dict[str, Best] = {}
    for row, place in enumerate(rows.passage):
        passage = passages[place]
        if place not in first or (
            passage.label and _dataset(passage) in whole and _made_unanswerable(passage.group)
        ):
            continue
        one = Best(_dataset(passage), float(probabilities[row]), bool(rows.states[row]))
        known = best.get(passage.group)
        if known is None or one.probability > known.probability:
            best[passage.group] = one
    return list(best.values())


def _threshold(best: Sequence[Best], precision: float) -> float:
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


def _lower(
    passages: Sequence[Passage], rows: Rows, probabilities: NDArray[np.float64], recall: float
) -> float:
    top = np.zeros(len(passages))
    np.maximum.at(top, rows.passage, probabilities)
    positives = np.sort([top[i] for i in _first_graded(passages) if passages[i].label])
    return round(float(positives[int((1 - recall) * len(positives))]), 3)


def _measured(
    passages: Sequence[Passage],
    rows: Rows,
    probabilities: NDArray[np.float64],
    best: Sequence[Best],
    upper: float,
) -> dict[str, Any]:
    """Cross-validated: AUROC of passages by dataset, Brier score and expected calibration error
    of sentences, and what `upper` does to the questions of each dataset."""
    from sklearn.metrics import roc_auc_score

    top = np.zeros(len(passages))
    np.maximum.at(top, rows.passage, probabilities)
    labels = np.array([passage.label for passage in passages])
    datasets = np.array([_dataset(passage) for passage in passages])
    names = sorted(set(datasets.tolist()))
    return {
        "auroc": {
            name: round(float(roc_auc_score(labels[datasets == name], top[datasets == name])), 4)
            for name in names
        },
        "brier": round(float(np.mean((probabilities - rows.states) ** 2)), 4),
        "ece": round(expected_calibration_error(probabilities, rows.states), 4),
        "at_upper": {
            name: _answered([b for b in best if b.dataset == name], upper) for name in names
        },
    }


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
        known = questions.setdefault(_dataset(passage), {})
        known[passage.group] = known.get(passage.group, False) or passage.label
    return {name for name, known in questions.items() if np.mean(list(known.values())) >= 0.9}


def _made_unanswerable(group: str) -> bool:
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % 4 < 2


def _dataset(passage: Passage) -> str:
    return passage.group.partition("/")[0]


def _rounded(values: NDArray[Any]) -> list[float]:
    return [round(float(value), 5) for value in values]
