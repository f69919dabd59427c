"""Labelled passages as rows of signs: one for each sentence that may answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.labelled_passages import Passage


@dataclass(frozen=True)
class Rows:
    """Sentences that may answer: `signs` has a column for each name."""

    names: list[str]
    signs: NDArray[np.float64]
    states: NDArray[np.bool_]
    passage: NDArray[np.int64]


def sentence_rows(passages: Sequence[Passage]) -> Rows:
    """One row for each sentence that may answer."""
    signs, states, places = [], [], []
    for place, passage in enumerate(passages):
        for (sentence, values), label in zip(
            passage.sentences, passage.sentence_labels, strict=True
        ):
            if sentence.eligible:
                signs.append(values)
                states.append(label)
                places.append(place)
    names = sorted(signs[0]) if signs else []
    matrix = np.array([[row[name] for name in names] for row in signs], dtype=float)
    return Rows(names, matrix, np.array(states, dtype=bool), np.array(places, dtype=np.int64))


def dataset_of(passage: Passage) -> str:
    return passage.group.partition("/")[0]
