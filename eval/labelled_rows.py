"""Rows of a JSONL file, plain or packed, checked one by one."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ingest.errors import ConfigurationError

R = TypeVar("R", bound=BaseModel)


def read_rows(file: Path, kind: type[R]) -> list[R]:
    """All rows of the file. Raises ConfigurationError for a file that cannot be read or has no
    row, and with its number for a line that is none of this kind."""
    rows = []
    for number, line in numbered_lines(file):
        try:
            rows.append(kind.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in problem["loc"])
            said = f"{place}: {problem['msg']}" if place else problem["msg"]
            raise ConfigurationError(f"{file}:{number}: {said}") from None
    if not rows:
        raise ConfigurationError(f"{file} has no rows")
    return rows


def numbered_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not empty, counted from 1. Raises ConfigurationError."""
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConfigurationError(f"{file}: {said}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8") from None
