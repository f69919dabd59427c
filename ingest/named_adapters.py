"""Adapters of a user's own, named in a setting."""

import importlib
import inspect
from typing import Any

from ingest.errors import ConfigurationError


def make_adapter(variable: str, name: str, settings: object, *, given: str, method: str) -> Any:
    """An object of the class that a setting names as `package.module:Class`, made with `settings`,
    which are `given` in words; it has an `async def` of the name `method`.

    Raises ConfigurationError for what cannot be had, made or awaited.
    """
    made = load_adapter(name)
    try:
        adapter = made(settings)
    except Exception as error:
        raise ConfigurationError(
            f"{variable}: {name} cannot be made with one argument, the {given} settings: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not inspect.iscoroutinefunction(getattr(adapter, method, None)):
        raise ConfigurationError(f"{variable}: {name} has no `async def {method}`")
    return adapter


def load_adapter(name: str) -> Any:
    """The class named `package.module:Class`. Raises ConfigurationError."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {error}"
        raise ConfigurationError(f"cannot load the adapter {name!r}: {told}") from error
