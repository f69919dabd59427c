"""Queries that a chat model worded, kept for some minutes: the same text is not worded twice."""

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import TypeVar, cast

from nodes.ports import QueryWriter
from nodes.prompts import PROMPT_VERSION
from nodes.state import Turn

T = TypeVar("T")

MOST = 1_000
"""Wordings that are kept at once, a few hundred bytes each; the least used go first."""


class KeptQueries:
    """A QueryWriter before another one. A wording depends on texts, the model and the prompts
    alone, so these are its key, and nothing of who asks. What failed is not kept."""

    def __init__(
        self,
        writer: QueryWriter,
        *,
        model: str,
        ttl_s: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer = writer
        self._model = model
        self._ttl_s = ttl_s
        self._now = now
        self._kept: OrderedDict[str, tuple[float, object]] = OrderedDict()

    async def standalone(self, question: str, history: Sequence[Turn]) -> str:
        said = [asdict(turn) for turn in history]
        return await self._once(
            ("standalone", question, said), lambda: self._writer.standalone(question, history)
        )

    async def rewritten(
        self, question: str, *, tried: Sequence[str], rejected: Sequence[str]
    ) -> str:
        return await self._once(
            ("rewritten", question, list(tried), list(rejected)),
            lambda: self._writer.rewritten(question, tried=tried, rejected=rejected),
        )

    async def parts(self, question: str) -> list[str]:
        return await self._once(("parts", question), lambda: self._writer.parts(question))

    async def phrasings(self, question: str, count: int) -> list[str]:
        return await self._once(
            ("phrasings", question, count), lambda: self._writer.phrasings(question, count)
        )

    async def synonyms(self, question: str) -> list[str]:
        return await self._once(("synonyms", question), lambda: self._writer.synonyms(question))

    async def next_hop(self, question: str, asked: Sequence[str], passages: Sequence[str]) -> str:
        return await self._once(
            ("next_hop", question, list(asked), list(passages)),
            lambda: self._writer.next_hop(question, asked, passages),
        )

    async def step_back(self, question: str) -> str:
        return await self._once(("step_back", question), lambda: self._writer.step_back(question))

    async def made_up(self, question: str) -> str:
        return await self._once(("made_up", question), lambda: self._writer.made_up(question))

    async def _once(self, asked: tuple[object, ...], work: Callable[[], Awaitable[T]]) -> T:
        key = hashlib.sha256(json.dumps([self._model, PROMPT_VERSION, *asked]).encode()).hexdigest()
        found = self._kept.get(key)
        if found is not None and self._now() - found[0] < self._ttl_s:
            self._kept.move_to_end(key)
            return cast(T, found[1])
        made = await work()
        self._kept[key] = (self._now(), made)
        self._kept.move_to_end(key)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return made
