"""Answers kept in a store, found by the meaning of their question and held to its vector."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from ingest.ports import Embedder, Vector
from nodes.kept_answer import FoundAnswer, KeptAnswer
from nodes.question_meaning import normalised

FORMAT = "1"
"""Grows when what is kept changes its shape."""

OVERHEAD = 200
"""Bytes of an entry beside its value: its key, its time, its place in the order."""


VECTORS = 1_000
"""Questions whose vector is remembered, about 2 KB each: asked again they need no model."""


class AnswerStore(Protocol):
    """Bytes by key, for a bounded time. Raises ServiceError where it cannot answer."""

    async def get(self, key: str) -> bytes | None: ...

    async def put(self, key: str, value: bytes) -> None: ...

    async def close(self) -> None: ...


class StoredAnswers:
    """The AnswerCache of nodes.ports on an AnswerStore.

    `versions` name what decides an answer beside the run: pipeline, prompts, calibration, models.
    Where the words differ, the cosine of the two questions is at least `similarity`.
    """

    def __init__(
        self, store: AnswerStore, embedder: Embedder, *, versions: str, similarity: float
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._versions = versions
        self._similarity = similarity
        self._vectors: dict[str, Vector] = {}

    async def find(self, key: str, question: str) -> FoundAnswer | None:
        value = await self._store.get(self._named(key))
        kept = _read(value) if value is not None else None
        if kept is None:
            return None
        similarity = await self._cosine(normalised(question), normalised(kept.question))
        return FoundAnswer(kept, similarity) if similarity >= self._similarity else None

    async def keep(self, key: str, answer: KeptAnswer) -> None:
        await self._store.put(self._named(key), _adapter().dump_json(answer))

    async def close(self) -> None:
        await self._store.close()

    def _named(self, key: str) -> str:
        return hashlib.sha256(f"{FORMAT}\x00{self._versions}\x00{key}".encode()).hexdigest()

    async def _cosine(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        known = {text: self._vectors[text] for text in (one, other) if text in self._vectors}
        new = [text for text in (one, other) if text not in known]
        if new:
            known |= zip(new, await self._embedder.embed(new, role="question"), strict=True)
        self._vectors |= known
        while len(self._vectors) > VECTORS:
            self._vectors.pop(next(iter(self._vectors)))
        return float(known[one] @ known[other])


class MemoryAnswers:
    """Of this process: at most `megabytes`, the least recently used go first."""

    def __init__(
        self,
        *,
        megabytes: float,
        ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = int(megabytes * 1_000_000)
        self._ttl_s = ttl_s
        self._clock = clock
        self._kept: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0

    async def get(self, key: str) -> bytes | None:
        value, until = self._kept.get(key, (None, 0.0))
        if value is None or until <= self._clock():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return value

    async def put(self, key: str, value: bytes) -> None:
        self._drop(key)
        self._kept[key] = (value, self._clock() + self._ttl_s)
        self._bytes += len(value) + OVERHEAD
        while self._bytes > self._limit:
            self._drop(next(iter(self._kept)))

    async def close(self) -> None:
        self._kept.clear()
        self._bytes = 0

    def _drop(self, key: str) -> None:
        value, _ = self._kept.pop(key, (None, 0.0))
        if value is not None:
            self._bytes -= len(value) + OVERHEAD


def versions_of(parts: Mapping[str, Any]) -> str:
    """One name for all of them, in any order."""
    return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()


@cache
def _adapter() -> TypeAdapter[KeptAnswer]:
    return TypeAdapter(KeptAnswer)


def _read(value: bytes) -> KeptAnswer | None:
    """None for what another version wrote, or nobody: it is asked anew."""
    try:
        return _adapter().validate_json(value)
    except ValidationError:
        return None
