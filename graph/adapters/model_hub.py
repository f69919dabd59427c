"""Downloads a model's files from the Hugging Face hub, or from where HF_ENDPOINT says."""

from pathlib import Path

from graph.adapters.model_files import require_cross_encoder
from ingest.errors import ConfigurationError, DependencyError, InvalidRequest

FILES = ["*.json", "*.txt", "*.model"]
WEIGHTS = {
    "torch": ["*.safetensors"],
    "onnx": ["onnx/model.onnx", "onnx/model.onnx_data"],
    "openvino": ["openvino/openvino_model.xml", "openvino/openvino_model.bin"],
}
"""No pickled weights: loading those may run code."""

TIMEOUT_S = 10


def pull(name: str, folder: Path, backend: str = "torch") -> str:
    """Writes the files of the newest revision into `folder`; returns that revision.

    Raises InvalidRequest for a name that the hub does not have, ConfigurationError for a model
    that cannot rerank, DependencyError where the hub cannot be reached or breaks off.
    """
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    try:
        # First: where the hub is away, snapshot_download takes an old folder for a success.
        revision = HfApi().model_info(name, timeout=TIMEOUT_S).sha or "main"
        snapshot_download(
            name, revision=revision, local_dir=folder, allow_patterns=FILES + WEIGHTS[backend]
        )
    except HFValidationError as error:
        raise InvalidRequest(f"{name!r} is no name of a model: {error}") from error
    except RepositoryNotFoundError as error:
        raise InvalidRequest(f"the hub has no model {name!r}, or it is not public") from error
    except Exception as error:  # the errors of whichever HTTP client the hub's library has
        raise DependencyError(
            f"the model hub {constants.ENDPOINT} cannot be reached: {error}; "
            "set HF_ENDPOINT for a mirror, or copy the model's folder here by other means"
        ) from error
    require_cross_encoder(folder)
    if not any(next(folder.glob(pattern), None) for pattern in WEIGHTS[backend]):
        raise ConfigurationError(f"{name} has no weights for {backend}: {WEIGHTS[backend][0]}")
    return revision
