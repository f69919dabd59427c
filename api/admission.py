"""Lets requests and runs in, within the limits of their key, their tenant and this process."""

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
from api.limits import Limiter, Place, open_limiter, too_many
from api.settings import LimitSettings, Settings
from api.shares import Share, shares
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
        counted = {
            share.subject: share
            for share in shares(identity, self.limits(identity))
            if share.requests_per_minute
        }
        if not counted:
            return
        per_minute = {subject: share.requests_per_minute for subject, share in counted.items()}
        over, _ = await self._ask(lambda limiter: limiter.take(per_minute))
        if over:
            subject = max(over, key=over.__getitem__)
            most, whose = per_minute[subject], counted[subject].whose
            raise too_many(f"{most} requests a minute are this {whose}'s limit", over[subject])

    @asynccontextmanager
    async def run(
        self, identity: Identity, *, waits: Callable[[], None] = lambda: None
    ) -> AsyncIterator[list[Degraded]]:
        """Waits for a place and holds it; gives what was done without meanwhile. `waits` is called
        where none is free at once.

        Raises RateLimited, NotReady when the service goes down, and DependencyError as above.
        """
        if self._closed:
            raise going_down()
        limits, run = self.limits(identity), secrets.token_hex(8)
        given = shares(identity, limits)
        apart = await self._check_tokens(given)
        held: list[Share] = []
        keeping = asyncio.create_task(self._keep(run, held))
        try:
            entering = self._placed(run, [one for one in given if one.running], held, waits)
            apart |= await self._in_time(entering, limits.wait_s)
            try:
                yield [COUNTED_APART] if apart else []
            finally:
                self._slots.give_back()
        finally:
            keeping.cancel()
            with anyio.CancelScope(shield=True):
                await self._leave(run, given)

    async def spend(self, identity: Identity, tokens: int) -> None:
        """Counts what a run took; where that cannot be told now, in this process alone."""
        for share in shares(identity, self.limits(identity)) if tokens else []:
            if share.tokens_per_day:
                await self._spend(share.subject, tokens)

    def end(self) -> None:
        """Who waits is told that the service goes down, and nobody gets in any more."""
        self._closed = True
        for patience in self._waiting:
            patience.reschedule(asyncio.get_running_loop().time())

    async def close(self) -> None:
        if self._shared is not None:
            await self._shared.close()

    async def _spend(self, subject: str, tokens: int) -> None:
        await self._ask(lambda limiter: limiter.spend(subject, tokens), closed=False)

    async def _check_tokens(self, given: list[Share]) -> bool:
        """Whether any were counted in this process alone."""
        counted_apart = False
        for share in given:
            if share.tokens_per_day:
                subject, most = share.subject, share.tokens_per_day
                spent, apart = await self._spent(subject)
                if spent >= most:
                    said = f"{most} tokens a day are this {share.whose}'s limit"
                    raise too_many(said, _until_midnight_s())
                counted_apart |= apart
        return counted_apart

    async def _spent(self, subject: str) -> tuple[int, bool]:
        return await self._ask(lambda limiter: limiter.spent(subject))

    async def _in_time(self, entering: Awaitable[bool], wait_s: float) -> bool:
        try:
            async with asyncio.timeout(wait_s) as patience:
                self._waiting.add(patience)
                try:
                    return await entering
                finally:
                    self._waiting.discard(patience)
        except TimeoutError:
            if self._closed:
                raise going_down() from None
            raise too_many(f"no place came free in {wait_s:g} s", RETRY_S) from None

    async def _placed(
        self, run: str, given: list[Share], held: list[Share], waits: Callable[[], None]
    ) -> bool:
        """Takes the key's place, then the tenant's, then one of this process. Whether any was
        counted in this process alone."""
        counted_apart = False
        for share in given:
            counted_apart |= await self._take_place(run, share, waits)
            held.append(share)
        if not self._slots.free:
            waits()
        await self._slots.take(given[0].subject)
        return counted_apart

    async def _take_place(self, run: str, share: Share, waits: Callable[[], None]) -> bool:
        while True:
            left = self._left
            place, apart = await self._place(run, share)
            if place == "running":
                return apart
            if place == "full":
                going_on = f"{share.running} runs of this {share.whose} go on"
                raise too_many(f"{going_on} and {share.waiting} wait", RETRY_S)
            waits()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S):
                    await left.wait()

    async def _place(self, run: str, share: Share, *, closed: bool = True) -> tuple[Place, bool]:
        return await self._ask(
            lambda limiter: limiter.place(
                share.subject, run, running=share.running, waiting=share.waiting
            ),
            closed=closed,
        )

    async def _keep(self, run: str, held: list[Share]) -> None:
        """Tells the others that the run still has what it holds, also while it waits for more."""
        while True:
            await asyncio.sleep(KEEP_S)
            for share in held:
                if self._shared is not None and time.monotonic() >= self._away_until:
                    await self._place(run, share, closed=False)

    async def _leave(self, run: str, given: list[Share]) -> None:
        for share in given:
            await self._leave_one(run, share.subject)
        left, self._left = self._left, asyncio.Event()
        left.set()

    async def _leave_one(self, run: str, subject: str) -> None:
        await self._here.leave(subject, run)
        await self._ask(lambda limiter: limiter.leave(subject, run), closed=False)

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
