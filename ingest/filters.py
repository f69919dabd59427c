"""Filters are typed values over allow-listed keys, never strings in a query language."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingest.documents import Chunk, calendar_date
from ingest.errors import InvalidFilter

FILTER_KEYS = ("document_id", "language", "version", "status")
RANGE_KEYS = ("effective", "version")
"""Dates as YYYY-MM-DD, and versions as whole numbers with dots between."""
MAX_VALUES = 64

VERSION = re.compile(r"v?(\d{1,9}(?:\.\d{1,9}){0,5})", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Condition:
    """`key` is one of `values`, or with `exclude` none of them; with a bound it is a range, both
    ends in it, which a document without a readable value is not in."""

    key: str
    values: list[str]
    exclude: bool = False
    at_least: str | None = None
    at_most: str | None = None

    @property
    def is_range(self) -> bool:
        return self.at_least is not None or self.at_most is not None

    @property
    def within(self) -> str:
        """What a reader is told of it: values, or the two ends of a range."""
        if self.is_range:
            return f"{self.at_least or ''}..{self.at_most or ''}"
        return " / ".join(self.values)

    def admits(self, value: str | None) -> bool:
        if not self.is_range:
            return (value in self.values) != self.exclude
        place = _place(self.key, value)
        low, high = _place(self.key, self.at_least), _place(self.key, self.at_most)
        if place is None:
            return False
        return (low is None or low <= place) and (high is None or place <= high)


@dataclass(frozen=True)
class Filters:
    """Conditions that must all hold."""

    conditions: list[Condition] = field(default_factory=list)

    def __add__(self, other: "Filters") -> "Filters":
        return Filters([*self.conditions, *other.conditions])

    def admit(self, chunk: Chunk) -> bool:
        return all(c.admits(filter_value(chunk, c.key)) for c in self.conditions)


def filter_value(chunk: Chunk, key: str) -> str | None:
    """The value that a filter on `key` meets in this chunk."""
    return chunk.document_id if key == "document_id" else chunk.metadata.get(key)


def parse_filters(raw: Mapping[str, object]) -> Filters:
    """Filters from a request: `{"language": "en", "version": ["2", "3"]}`, and ranges:
    `{"effective": {"from": "2024-01-01", "to": "2024-12-31"}}`, either end alone, too.

    Raises InvalidFilter for a key outside FILTER_KEYS and RANGE_KEYS, and for anything but scalars.
    """
    return Filters([_condition(key, value) for key, value in raw.items()])


def _condition(key: str, value: object) -> Condition:
    if not isinstance(value, Mapping) or key not in RANGE_KEYS:
        return Condition(_known(key), _scalars(key, value))
    if not value or not set(value) <= {"from", "to"}:
        raise InvalidFilter(f"a range of {key!r} has `from`, `to`, or both")
    low, high = (_bound(key, value[end]) if end in value else None for end in ("from", "to"))
    return Condition(key, [], at_least=low, at_most=high)


def _bound(key: str, value: object) -> str:
    text = _scalars(key, value)[0] if not isinstance(value, list) else ""
    if _place(key, text) is None:
        kind = "a date, YYYY-MM-DD" if key == "effective" else "a number such as 2 or 2.1"
        raise InvalidFilter(f"a bound of {key!r} is {kind}")
    return text


def _place(key: str, value: str | None) -> tuple[int, ...] | None:
    """Where a value stands among others of its key; None where it cannot be read."""
    if key == "effective":
        day = calendar_date(value or "")
        return (day.year, day.month, day.day) if day else None
    found = VERSION.fullmatch(value or "")
    if not found:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()  # 2.0 is 2
    return tuple(numbers)


def _known(key: str) -> str:
    if key not in FILTER_KEYS:
        known = ", ".join(FILTER_KEYS)
        raise InvalidFilter(
            f"unknown filter {key[:40]!r}; known: {known}, ranges of {', '.join(RANGE_KEYS)}"
        )
    return key


def _scalars(key: str, value: object) -> list[str]:
    values: Sequence[object] = value if isinstance(value, list) else [value]
    if not 0 < len(values) <= MAX_VALUES:
        raise InvalidFilter(f"filter {key!r} takes 1 to {MAX_VALUES} values")
    if not all(isinstance(v, str | int) and not isinstance(v, bool) for v in values):
        raise InvalidFilter(f"filter {key!r} takes text or whole numbers")
    texts = [str(v) for v in values]
    if any("\ud800" <= char <= "\udfff" for text in texts for char in text):
        raise InvalidFilter(f"filter {key!r} is no valid UTF-8 text")
    return texts
