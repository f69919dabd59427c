"""The calibration file: what the signs weigh, and from which probability a passage counts."""

import math
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from graph.adapters.calibration_file import read_calibration, shipped

ALL_SIGNS = frozenset(
    """around asks_other cosine cosine_lead coverage lacks_kind late late_lead late_lost
    late_weakest literals_missing names_missing new_value new_words numbers_missing
    passage_bm25 passage_coverage passage_dense passage_dense_lead passage_head_coverage
    passage_late passage_late_lead passage_length passage_literals_missing
    passage_names_missing passage_negation_differs passage_numbers_missing
    passage_question_length passage_type_missing""".split()
)
"""What graph/adapters/pool_signs.py computes."""


class AnswerModel(BaseModel):
    """A logistic regression: the probability that a sentence states what a question asks for.

    Signs are standardised by `mean` and `scale`. Thresholds are probabilities: a passage is
    correct from `upper`, incorrect below `lower`. Nothing is told of a passage whose best sentence
    is below `upper`; of one whose best is not, a sentence close to it may be told too, also below.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    signs: list[str]
    mean: list[FiniteFloat]
    scale: list[FiniteFloat]
    weights: list[FiniteFloat]
    bias: FiniteFloat
    upper: float = Field(ge=0, le=1)
    lower: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _can_work(self) -> "AnswerModel":
        if {len(self.mean), len(self.scale), len(self.weights)} != {len(self.signs)}:
            raise ValueError("signs, mean, scale and weights differ in length")
        if min(self.scale, default=1.0) <= 0:
            raise ValueError("a scale is not above 0")
        if not self.lower <= self.upper:
            raise ValueError("lower <= upper does not hold")
        return self

    def log_odds(self, values: dict[str, float]) -> float:
        """Raises KeyError where a sign is not there."""
        parts = zip(self.signs, self.mean, self.scale, self.weights, strict=True)
        return self.bias + sum(w * (values[name] - m) / s for name, m, s, w in parts)

    def probability(self, values: dict[str, float]) -> float:
        """In [0, 1]."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.log_odds(values)))))


class CalibrationFile(BaseModel):
    """`in_scope` is a cosine that the best candidate of a question which the base can answer does
    not fall below; None where that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    in_scope: float | None = Field(None, ge=-1, le=1)
    answers: dict[str, AnswerModel]
    fitted_on: dict[str, object]
    measured: dict[str, object]

    @model_validator(mode="after")
    def _signs_are_known(self) -> "CalibrationFile":
        unknown = {sign for model in self.answers.values() for sign in model.signs} - ALL_SIGNS
        if unknown:
            raise ValueError(f"unknown signs: {', '.join(sorted(unknown))}")
        return self


@dataclass(frozen=True)
class Calibration:
    """`answers` is keyed by feature set: full, words, web; `in_scope` as in CalibrationFile."""

    version: str
    model: str
    answers: dict[str, AnswerModel]
    in_scope: float | None = None


def load_calibration(path: str | None = None, *, embedder: str | None = None) -> Calibration:
    """The one at `path`, else the shipped one of the embedder with this fingerprint, of the default
    where none is named. Raises ConfigurationError."""
    file = Path(path) if path else shipped("passages", embedder)
    parsed, version = read_calibration(file, CalibrationFile, "calibration")
    return Calibration(version, parsed.model, parsed.answers, parsed.in_scope)
