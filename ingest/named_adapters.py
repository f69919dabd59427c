"""Adapters of a user's own, named in a setting."""

import importlib
from typing import Any

from ingest.errors import ConfigurationError


def load_adapter(name: str) -> Any:
    """The class named `package.module:Class`. Raises ConfigurationError."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {error}"
        raise ConfigurationError(f"cannot load the adapter {name!r}: {told}") from error
