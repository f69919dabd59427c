"""The probability that a draft is right, by the logistic regression of a file."""

import hashlib
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, FiniteFloat, model_validator

from graph.adapters.calibration_file import read_calibration, shipped
from nodes.confidence import NAMES


class ConfidenceFile(BaseModel):
    """A logistic regression over the signs of nodes/confidence.py, which are standardised by `mean`
    and `scale`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    signs: list[str]
    mean: list[FiniteFloat]
    scale: list[FiniteFloat]
    weights: list[FiniteFloat]
    bias: FiniteFloat
    fitted_on: dict[str, object]
    measured: dict[str, object]

    @model_validator(mode="after")
    def _can_work(self) -> "ConfidenceFile":
        if {len(self.mean), len(self.scale), len(self.weights)} != {len(self.signs)}:
            raise ValueError("signs, mean, scale and weights differ in length")
        if min(self.scale, default=1.0) <= 0:
            raise ValueError("a scale is not above 0")
        if unknown := set(self.signs) - set(NAMES):
            raise ValueError(f"unknown signs: {', '.join(sorted(unknown))}")
        return self

    @property
    def version(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]

    def probability(self, signs: Mapping[str, float]) -> float:
        """In [0, 1]. Raises KeyError where a sign is not there."""
        parts = zip(self.signs, self.mean, self.scale, self.weights, strict=True)
        odds = self.bias + sum(w * (signs[name] - m) / s for name, m, s, w in parts)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@cache
def load_confidence(path: str | None = None, *, embedder: str | None = None) -> ConfidenceFile:
    """The file at `path`, else the shipped one of the embedder with this fingerprint. Raises
    ConfigurationError."""
    file = Path(path) if path else shipped("confidence", embedder)
    return read_calibration(file, ConfidenceFile, "confidence")[0]
