"""Where a cross-encoder's files are, and whether they are those of a cross-encoder."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ingest.errors import ConfigurationError

SCORING = ("ForSequenceClassification", "ForCausalLM")
"""Ends of the architectures that score a pair; any other would get a head of random numbers."""

BACKEND_PACKAGES = {"torch": "torch", "onnx": "onnxruntime", "openvino": "openvino"}


def find_model(
    name: str | None, *, kind: str = "CRAG_RERANK__KIND", setting: str = "CRAG_RERANK__MODEL"
) -> Path:
    """The folder of a local path, or of a name in the hub's cache on this machine; `kind` and
    `setting` are those that an error names.

    Raises ConfigurationError for what is not here, or is no cross-encoder. Downloads nothing: a
    service that starts must not wait for a hub.
    """
    if not name:
        raise ConfigurationError(
            f"{kind}=cross_encoder needs {setting}, a folder or a name; "
            "`crag models pull NAME`, such as BAAI/bge-reranker-base, gets one"
        )
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _cached(name, setting)
    require_cross_encoder(folder, setting)
    return folder


def require_backend(backend: str) -> None:
    """Raises ConfigurationError where the package that runs it is not installed."""
    if find_spec(BACKEND_PACKAGES[backend]) is None:
        raise ConfigurationError(
            f"CRAG_RERANK__BACKEND={backend} needs the extra of that name: "
            f"pip install -e '.[{backend}]'"
        )


def require_cross_encoder(folder: Path, setting: str = "CRAG_RERANK__MODEL") -> None:
    """Raises ConfigurationError for a folder without a model or with one that scores no pairs."""
    config = _json(folder / "config.json", setting)
    declared = _json(folder / "config_sentence_transformers.json", setting).get("model_type")
    if declared == "CrossEncoder":
        return
    if not config:
        raise ConfigurationError(f"{setting}: {folder} holds no model (no config.json)")
    architectures = config.get("architectures") or []
    if not any(str(name).endswith(SCORING) for name in architectures):
        raise ConfigurationError(
            f"{setting}: {folder} is no cross-encoder: its architecture is "
            f"{', '.join(architectures) or 'not named'}"
        )


def _cached(name: str, setting: str) -> Path:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        config = None
    if not isinstance(config, str):
        raise ConfigurationError(
            f"{setting}: {name} is no folder and not in this machine's model cache; "
            "`crag models pull NAME` downloads a model"
        )
    return Path(config).parent


def _json(file: Path, setting: str) -> dict[str, Any]:
    """Empty where there is no such file. Raises ConfigurationError for one that is broken."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{setting}: cannot read {file}: {error}") from error
    return read if isinstance(read, dict) else {}
