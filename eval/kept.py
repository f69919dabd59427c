"""Values that are slow to compute, kept in a file that grows line by line."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Generic, TypeVar

Value = TypeVar("Value")
"""What JSON holds."""


class Kept(Generic[Value]):
    """A run that is cut short loses nothing but the values it was computing.

    The key is a digest of all that a value depends on: content, model, and version of the code.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._values: dict[str, Value] = {}
        if not file.exists():
            return
        content = file.read_text(encoding="utf-8")
        for line in content.splitlines():
            try:
                row = json.loads(line)
                self._values[row["key"]] = row["value"]
            except (ValueError, KeyError, TypeError):
                continue  # the line that an interruption cut
        if content and not content.endswith("\n"):
            self._append("")

    def get(self, key: str) -> Value | None:
        return self._values.get(key)

    def put(self, values: Mapping[str, Value]) -> None:
        self._values |= values
        lines = [json.dumps({"key": key, "value": value}) for key, value in values.items()]
        self._append("\n".join(lines))

    def _append(self, lines: str) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(lines + "\n")


def key_of(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:32]
