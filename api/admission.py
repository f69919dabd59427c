"""Lets requests and runs in, within the limits of their credential and of this process."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import anyio

from api.adapters.memory_limits import MemoryLimits
from api.errors import going_down
from api.fair_slots import FairSlots
from api.identity import Identity
from api.limits import Limiter, open_limiter, too_many
from api.settings import LimitSettings, Settings
from ingest.errors import DependencyError
from nodes.state import Degraded

T = TypeVar("T")

LOOK_AGAIN_S = 0.25
"""Seconds between two looks for a place that another process gave up; our own are told at once."""
KEEP_S = 5.0
"""Seconds between two signs of life of a run; a third of its lease."""
AWAY_S = 5.0
"""Seconds until counts that could not be reached are asked for again."""
RETRY_S = 5.0
"""Seconds that a client is told to wait for a place."""

log = logging.getLogger("crag.api")


class Admission:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings.limits
        self._shared = open_limiter(settings)
        self._here = MemoryLimits()
        self._slots = FairSlots(settings.api.max_runs)
        self._away_until = 0.0
        self._left = asyncio.Event()
        self._waiting: set[asyncio.Timeout] = set()
        self._closed = False

    def limits(self, identity: Identity) -> LimitSettings:
        """Those of everyone, with the key's own. Commands on this machine are not counted."""
        if identity.local:
            return self._settings.model_copy(update={"requests_per_minute": 0, "tokens_per_day": 0})
        return self._settings.model_copy(update=identity.limits)

    async def request(self, identity: Identity) -> None:
        """Raises RateLimited, and DependencyError where Redis is away and must not be."""
        limits = self.limits(identity)
        if not (most := limits.requests_per_minute):
            return
        wait_s, _ = await self._ask(lambda limiter: limiter.take(identity.subject, most))
        if wait_s:
            raise too_many(f"{most} requests a minute are this key's limit", wait_s)

    @asynccontextmanager
    async def run(self, identity: Identity) -> AsyncIterator[list[Degraded]]:
        """Waits for a place and holds it; gives what was done without meanwhile.

        Raises RateLimited, NotReady when the service goes down, and DependencyError as above.
        """
        if self._closed:
            raise going_down()
        limits, subject, run = self.limits(identity), identity.subject, secrets.token_hex(8)
        apart = await self._check_tokens(subject, limits)
        try:
            apart |= await self._in_time(self._placed(subject, run, limits), limits)
            keeping = asyncio.create_task(self._keep(subject, run, limits))
            try:
                yield [COUNTED_APART] if apart else []
            finally:
                keeping.cancel()
                self._slots.give_back()
        finally:
            with anyio.CancelScope(shield=True):
                await self._leave(subject, run)

    async def spend(self, identity: Identity, tokens: int) -> None:
        """Counts what a run took; where that cannot be told now, in this process alone."""
        if tokens and self.limits(identity).tokens_per_day:
            await self._ask(lambda limiter: limiter.spend(identity.subject, tokens), closed=False)

    def end(self) -> None:
        """Who waits is told that the service goes down, and nobody gets in any more."""
        self._closed = True
        for patience in self._waiting:
            patience.reschedule(asyncio.get_running_loop().time())

    async def close(self) -> None:
        if self._shared is not None:
            await self._shared.close()

    async def _check_tokens(self, subject: str, limits: LimitSettings) -> bool:
        if not (most := limits.tokens_per_day):
            return False
        spent, apart = await self._ask(lambda limiter: limiter.spent(subject))
        if spent >= most:
            raise too_many(f"{most} tokens a day are this key's limit", _until_midnight_s())
        return apart

    async def _in_time(self, entering: Awaitable[bool], limits: LimitSettings) -> bool:
        try:
            async with asyncio.timeout(limits.wait_s) as patience:
                self._waiting.add(patience)
                try:
                    return await entering
                finally:
                    self._waiting.discard(patience)
        except TimeoutError:
            if self._closed:
                raise going_down() from None
            raise too_many(f"no place came free in {limits.wait_s:g} s", RETRY_S) from None

    async def _placed(self, subject: str, run: str, limits: LimitSettings) -> bool:
        """Whether it was counted in this process alone."""
        running, waiting = limits.running, limits.waiting
        while True:
            left = self._left
            place, apart = await self._ask(
                lambda limiter: limiter.place(subject, run, running=running, waiting=waiting)
            )
            if place == "running":
                break
            if place == "full":
                raise too_many(f"{running} runs of this key go on and {waiting} wait", RETRY_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S):
                    await left.wait()
        await self._slots.take(subject)
        return apart

    async def _keep(self, subject: str, run: str, limits: LimitSettings) -> None:
        while True:
            await asyncio.sleep(KEEP_S)
            if self._shared is not None and time.monotonic() >= self._away_until:
                await self._ask(
                    lambda limiter: limiter.place(
                        subject, run, running=limits.running, waiting=limits.waiting
                    ),
                    closed=False,
                )

    async def _leave(self, subject: str, run: str) -> None:
        await self._here.leave(subject, run)
        await self._ask(lambda limiter: limiter.leave(subject, run), closed=False)
        left, self._left = self._left, asyncio.Event()
        left.set()

    async def _ask(
        self, question: Callable[[Limiter], Awaitable[T]], *, closed: bool = True
    ) -> tuple[T, bool]:
        """The answer, and whether it is of this process alone because the others' is away."""
        if self._shared is None:
            return await question(self._here), False
        try:
            if time.monotonic() < self._away_until:
                raise DependencyError("the shared limits are away")
            return await question(self._shared), False
        except DependencyError as error:
            if time.monotonic() >= self._away_until:
                self._away_until = time.monotonic() + AWAY_S
                log.warning("limits are not counted together: %s", error)
            if closed and self._settings.without_redis == "refuse":
                raise
        return await question(self._here), True


COUNTED_APART = Degraded(
    "limits", "dependency_down", "limits counted in this process alone", "Redis did not answer"
)


def _until_midnight_s() -> float:
    now = datetime.now(UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - now).total_seconds()
