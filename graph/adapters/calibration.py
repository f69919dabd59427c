"""The calibration file: what the signs weigh, and from which probability a passage counts."""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ingest.errors import ConfigurationError

SHIPPED = Path(__file__).parent.parent / "calibrations" / "all-minilm-l6-v2.json"


class LogisticModel(BaseModel):
    """A logistic regression over named signs, standardised by `mean` and `scale`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    signs: list[str]
    mean: list[float]
    scale: list[float]
    weights: list[float]
    bias: float

    def log_odds(self, values: dict[str, float]) -> float:
        """Raises KeyError where a sign is not there."""
        parts = zip(self.signs, self.mean, self.scale, self.weights, strict=True)
        return self.bias + sum(w * (values[name] - m) / s for name, m, s, w in parts)

    def probability(self, values: dict[str, float]) -> float:
        """In [0, 1]."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.log_odds(values)))))


class GraderModel(LogisticModel):
    """A passage model with its thresholds: correct from `upper`, incorrect below `lower`."""

    upper: float = Field(ge=0, le=1)
    lower: float = Field(ge=0, le=1)


class CalibrationFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    sentence: LogisticModel
    passages: dict[str, GraderModel]
    fitted_on: dict[str, object]
    measured: dict[str, object]


@dataclass(frozen=True)
class Calibration:
    """`passages` is keyed by feature set: full, without_rerank, web."""

    version: str
    model: str
    sentence: LogisticModel
    passages: dict[str, GraderModel]


def load_calibration(path: str | None = None) -> Calibration:
    """The shipped calibration, or the one at `path`. Raises ConfigurationError."""
    file = Path(path) if path else SHIPPED
    try:
        content = file.read_bytes()
        parsed = CalibrationFile.model_validate(json.loads(content))
    except OSError as error:
        raise ConfigurationError(f"calibration {file}: {error.strerror}") from None
    except (ValueError, ValidationError) as error:
        raise ConfigurationError(f"calibration {file} is not valid: {error}") from None
    version = hashlib.sha256(content).hexdigest()[:12]
    return Calibration(version, parsed.model, parsed.sentence, parsed.passages)
