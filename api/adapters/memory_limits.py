"""Limits counted in this process alone."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from api.limits import Place

MINUTE_S = 60.0
MANY = 10_000
"""Subjects, from which on those that are not in use are forgotten."""


@dataclass
class _Runs:
    """Runs in the order in which they came."""

    running: dict[str, None] = field(default_factory=dict)
    waiting: dict[str, None] = field(default_factory=dict)


class MemoryLimits:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_again: dict[str, float] = {}
        """When each subject has its whole minute's requests again: the generic cell rate algorithm
        (ITU-T I.371)."""
        self._runs: defaultdict[str, _Runs] = defaultdict(_Runs)
        self._spent: dict[str, int] = {}
        self._day = ""

    async def take(self, per_minute: Mapping[str, int]) -> dict[str, float]:
        now = self._clock()
        if len(self._full_again) > MANY:
            self._full_again = {s: at for s, at in self._full_again.items() if at > now}
        after = {
            subject: max(self._full_again.get(subject, now), now) + MINUTE_S / most
            for subject, most in per_minute.items()
        }
        over = {subject: at - now - MINUTE_S for subject, at in after.items()}
        over = {subject: wait_s for subject, wait_s in over.items() if wait_s > 1e-6}
        if not over:
            self._full_again |= after
        return over

    async def place(self, subject: str, run: str, *, running: int, waiting: int) -> Place:
        runs = self._runs[subject]
        if run in runs.running:
            return "running"
        ahead = list(runs.waiting).index(run) if run in runs.waiting else len(runs.waiting)
        if len(runs.running) + ahead < running:
            runs.waiting.pop(run, None)
            runs.running[run] = None
            return "running"
        if run not in runs.waiting and ahead >= waiting:
            return "full"
        runs.waiting[run] = None
        return "waiting"

    async def leave(self, subject: str, run: str) -> None:
        runs = self._runs[subject]
        runs.running.pop(run, None)
        runs.waiting.pop(run, None)
        if not runs.running and not runs.waiting:
            del self._runs[subject]

    async def spend(self, subject: str, tokens: int) -> None:
        self._begin_day()
        self._spent[subject] = self._spent.get(subject, 0) + tokens

    async def spent(self, subject: str) -> int:
        self._begin_day()
        return self._spent.get(subject, 0)

    async def close(self) -> None: ...

    def _begin_day(self) -> None:
        today = datetime.now(UTC).date().isoformat()
        if today != self._day:
            self._day, self._spent = today, {}
