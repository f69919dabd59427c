"""Fits the grader: from labelled passages to a calibration file with its measurements."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.held_out import HeldOut, held_out_of
from eval.labelled_passages import Passage
from eval.sentence_rows import Rows, dataset_of, sentence_rows
from eval.thresholds import best_sentences, lower_bound, measured_on, threshold_for
from graph.adapters.calibration import AnswerModel, CalibrationFile
from ingest.errors import ConfigurationError

STRENGTH = 0.3
"""Inverse regularisation, chosen by cross-validation on the tuning halves among 1, 0.3 and 0.05."""

SHARES = {"triples": 0.2}
"""Weight of a dataset beside the others' 1. Triples are made to mislead: at full weight the grader
distrusts what ordinary questions find."""

FIT_ONLY = ("triples", "excerpts")
"""Datasets that the thresholds are not chosen on: triples are no searches, and the excerpts of a
long document are not all that answers in it, so that a right sentence may count as wrong."""

MARGIN = 0.02
"""Of a cosine, below the lowest that was seen."""

FOLDS = 5
FEWEST = 40
"""Sentences that answer, without which a fit says nothing; as many that do not."""

FEWEST_QUESTIONS = 20
"""Questions that these come from: four in each fold, which never part a question."""

INDEX_SIGNS = ("passage_bm25", "passage_dense", "passage_dense_lead")
VECTOR_SIGNS = (
    "late", "late_weakest", "late_lost", "late_lead", "cosine", "cosine_lead",
    "passage_late", "passage_late_lead", "passage_type_missing", "passage_length",
)  # fmt: skip
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "full": (),
    "words": VECTOR_SIGNS,
    "web": (*INDEX_SIGNS, "late_lead", "cosine_lead", "passage_late_lead"),
}
"""The signs that each feature set does without."""


@dataclass(frozen=True)
class Fitted:
    """The calibration, and what the `full` set said of questions that it had not seen."""

    file: CalibrationFile
    held_out: HeldOut


def calibrate(
    passages: Sequence[Passage], *, model: str, precision: float, recall: float
) -> Fitted:
    """A model with its thresholds for each feature set.

    Thresholds come from cross-validation that never parts a question, over the first KEEP
    passages of each; where a dataset has only answerable questions, half of them are made
    unanswerable by leaving out what answers them. `upper` is the lowest probability from which
    the best sentences are right in `precision` of the cases, averaged over datasets; a set with
    fewer signs is asked for no more than `full`. `lower` keeps `recall` of the passages that
    answer. Raises ConfigurationError for fewer than FEWEST sentences of a kind, or
    FEWEST_QUESTIONS with an answer.
    """
    rows = sentence_rows(passages)
    _check_enough(passages, rows)
    folds = _folds(passages, rows)
    answers: dict[str, AnswerModel] = {}
    measured, judged = {}, {}
    for name, left_out in LEFT_OUT.items():
        kept = [i for i, sign in enumerate(rows.names) if sign not in left_out]
        held_out = judged[name] = _cross_validated(passages, rows, kept, folds)
        best = best_sentences(passages, rows, held_out, without=FIT_ONLY)
        upper = min(threshold_for(best, precision), answers["full"].upper if answers else 1.0)
        fitted = _fit(passages, rows, kept, np.arange(len(rows.states)))
        answers[name] = fitted.model_copy(
            update={
                "upper": upper,
                "lower": min(upper, lower_bound(passages, rows, held_out, recall)),
            }
        )
        measured[name] = measured_on(passages, rows, held_out, best, upper)
    file = CalibrationFile(
        model=model,
        in_scope=_in_scope(passages),
        answers=answers,
        fitted_on={
            "passages": dict(Counter(dataset_of(p) for p in passages)),
            "that_answer": dict(Counter(dataset_of(p) for p in passages if p.label)),
            "precision": precision,
            "recall": recall,
        },
        measured=measured,
    )
    fold_of = {passages[i].group: int(f) for i, f in zip(rows.passage, folds, strict=True)}
    best = best_sentences(passages, rows, judged["full"], without=FIT_ONLY)
    return Fitted(file, held_out_of(passages, rows, judged["full"], best, fold_of, precision))


def _in_scope(passages: Sequence[Passage]) -> float:
    """A little below the best cosine of whichever question with an answer has the lowest."""
    held = {passage.group for passage in passages if passage.label}
    best: dict[str, float] = {}
    for passage in passages:
        for _, signs in passage.sentences[:1]:
            known = best.get(passage.group, -1.0)
            best[passage.group] = max(known, signs["passage_dense"])
    return round(max(-1.0, min(best[group] for group in held if group in best) - MARGIN), 2)


def _check_enough(passages: Sequence[Passage], rows: Rows) -> None:
    questions = {passages[i].group for i in rows.passage[rows.states]}
    answer, others = int(rows.states.sum()), int((~rows.states).sum())
    for found, fewest, what, more in (
        (answer, FEWEST, "sentences that answer a question", "questions whose answer is found"),
        (len(questions), FEWEST_QUESTIONS, "questions with such sentences", "other questions"),
        (others, FEWEST, "sentences that do not answer", "unanswerable questions"),
    ):
        if found < fewest:
            raise ConfigurationError(
                f"{found} {what} were found; {fewest} are needed, {fewest - found} more: "
                f"label more {more}"
            )


def _fit(
    passages: Sequence[Passage], rows: Rows, kept: list[int], train: NDArray[Any]
) -> AnswerModel:
    """An L2 logistic regression in which every dataset weighs the same, but for SHARES."""
    from sklearn.linear_model import LogisticRegression

    matrix = rows.signs[train][:, kept]
    mean, scale = matrix.mean(axis=0), matrix.std(axis=0)
    scale[scale < 1e-9] = 1.0
    datasets = np.array([dataset_of(passages[i]) for i in rows.passage[train]])
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
        lower=0.0,
    )


def _folds(passages: Sequence[Passage], rows: Rows) -> NDArray[np.int64]:
    """The fold of each row; a question lies in one."""
    from sklearn.model_selection import GroupKFold

    groups = [passages[i].group for i in rows.passage]
    folds = np.zeros(len(groups), dtype=np.int64)
    for number, (_, test) in enumerate(GroupKFold(FOLDS).split(groups, groups=groups)):
        folds[test] = number
    return folds


def _cross_validated(
    passages: Sequence[Passage], rows: Rows, kept: list[int], folds: NDArray[np.int64]
) -> NDArray[np.float64]:
    probabilities = np.zeros(len(rows.states))
    for fold in range(FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = _fit(passages, rows, kept, train)
        standard = (rows.signs[test][:, kept] - model.mean) / model.scale
        odds = standard @ np.array(model.weights) + model.bias
        probabilities[test] = 1 / (1 + np.exp(-odds))
    return probabilities


def _rounded(values: NDArray[Any]) -> list[float]:
    return [round(float(value), 5) for value in values]
