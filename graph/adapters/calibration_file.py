"""Reads a calibration: a JSON file that a model of pydantic holds to its shape."""

import hashlib
import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ingest.errors import ConfigurationError
from ingest.settings import EmbedderName, IndexSettings

Shape = TypeVar("Shape", bound=BaseModel)

SHIPPED = Path(__file__).parent.parent / "calibrations"
"""A folder for each embedder, by the name that its fingerprint begins with."""

DEFAULT: EmbedderName = IndexSettings.model_fields["embedder"].default


def shipped(kind: str, embedder: str | None = None) -> Path:
    """The file of a kind (passages, claims, confidence) that was fitted with the vectors of
    `embedder`, a fingerprint. For one that none was fitted for it is the default's, whose `model`
    tells that it is another's."""
    name = (embedder or DEFAULT).partition("@")[0].lower()
    own = SHIPPED / name / f"{kind}.json"
    return own if own.is_file() else SHIPPED / DEFAULT / f"{kind}.json"


def read_calibration(file: Path, shape: type[Shape], called: str) -> tuple[Shape, str]:
    """The content, and a version made of its bytes. Raises ConfigurationError, where the file is
    `called` what it is."""
    try:
        content = file.read_bytes()
        parsed = shape.model_validate(json.loads(content))
    except OSError as error:
        raise ConfigurationError(f"{called} {file}: {error.strerror}") from None
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(f"{called} {file}: {place}: {problem['msg']}") from None
    except ValueError as error:
        raise ConfigurationError(f"{called} {file} is not JSON: {error}") from None
    return parsed, hashlib.sha256(content).hexdigest()[:12]
