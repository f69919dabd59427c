"""The folder of weights that come as a package, checked by the sha256 of each file."""

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from ingest.errors import ModelPackageError

INSTALL = "run `make models`, or the command of models.lock"
AGAIN = f"install it again: {INSTALL}"


def package_folder(package: str) -> Path:
    """Where the files of a package are, which is not imported. Raises ModelPackageError."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelPackageError(
            f"the model package {package.replace('_', '-')} is not installed; {INSTALL}"
        )
    return Path(spec.submodule_search_locations[0])


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Raises ModelPackageError unless each file has the sha256 that this release was made with."""
    for name, expected in files.items():
        try:
            with (folder / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelPackageError(
                f"the model is incomplete: {name} of its package: {error.strerror}; {AGAIN}"
            ) from error
        if digest != expected:
            raise ModelPackageError(
                f"the model is altered: {name} has sha256 {digest[:12]}…, "
                f"expected {expected[:12]}…; {AGAIN}"
            )
