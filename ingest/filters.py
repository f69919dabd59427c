"""Filters are typed values over allow-listed keys, never strings in a query language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingest.documents import Chunk
from ingest.errors import InvalidFilter

FILTER_KEYS = ("document_id", "language", "version", "status")
MAX_VALUES = 64


@dataclass(frozen=True)
class Condition:
    """`key` is one of `values`, or with `exclude` none of them."""

    key: str
    values: list[str]
    exclude: bool = False

    def admits(self, value: str | None) -> bool:
        return (value in self.values) != self.exclude


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
    """Filters from a request: `{"language": "en", "version": ["2", "3"]}`.

    Raises InvalidFilter for a key outside FILTER_KEYS and for anything but scalars.
    """
    return Filters([Condition(_known(key), _scalars(key, value)) for key, value in raw.items()])


def _known(key: str) -> str:
    if key not in FILTER_KEYS:
        raise InvalidFilter(f"unknown filter {key[:40]!r}; known: {', '.join(FILTER_KEYS)}")
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
