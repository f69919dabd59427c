"""What a calibration says of questions that it was not fitted on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.labelled_passages import Passage
from eval.sentence_rows import Rows, dataset_of
from eval.thresholds import Best, passage_probabilities, threshold_for


@dataclass(frozen=True)
class Told:
    """What would have happened to one question. `found`: a passage that answers was among those
    that are graded first; where it was not, any answer is wrong."""

    dataset: str
    found: bool
    answered: bool
    right: bool


@dataclass(frozen=True)
class HeldOut:
    """Cross-validated: each probability, in [0, 1], is by a model that had not seen its question.

    `questions` are judged by the `upper` that the other folds choose, so that meeting the stated
    precision is a finding and no tautology; `uppers` are those thresholds, by fold. `datasets`
    are those of the passages.
    """

    sentences: NDArray[np.float64]
    states: NDArray[np.bool_]
    passages: NDArray[np.float64]
    labels: NDArray[np.bool_]
    datasets: NDArray[np.str_]
    best: list[Best]
    questions: list[Told]
    uppers: list[float]


def held_out_of(
    passages: Sequence[Passage],
    rows: Rows,
    probabilities: NDArray[np.float64],
    best: Sequence[Best],
    fold_of: Mapping[str, int],
    precision: float,
) -> HeldOut:
    """`probabilities` are of the sentences in `rows`, `fold_of` maps questions to folds."""
    uppers = [
        threshold_for([one for one in best if fold_of[one.group] != fold], precision)
        for fold in range(max(fold_of.values()) + 1)
    ]
    questions = []
    for one in best:
        answered = one.probability >= uppers[fold_of[one.group]]
        questions.append(Told(one.dataset, one.found, answered, answered and one.right))
    return HeldOut(
        sentences=probabilities,
        states=rows.states,
        passages=passage_probabilities(passages, rows, probabilities),
        labels=np.array([passage.label for passage in passages], dtype=bool),
        datasets=np.array([dataset_of(passage) for passage in passages]),
        best=list(best),
        questions=questions,
        uppers=uppers,
    )
