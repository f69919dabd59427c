"""Whose turn it is to write: one at a time in a process, and for each base over all processes."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, TypeVar

from ingest.records import Records, WrittenElsewhere

T = TypeVar("T")

Work = Callable[[], Coroutine[Any, Any, T]]

WAIT_S = 60.0
"""Seconds that a write waits for another process that writes to the same base: a group of
documents takes some seconds, `crag kb reembed` much longer."""

LOOK_S = 0.05


class Turns:
    """Of one process. `thread` is an executor of one thread."""

    def __init__(self, records: Records, thread: Executor) -> None:
        self._records = records
        self._thread = thread
        self._writing = asyncio.Lock()

    async def run(self, tenant: str, base: str, work: Work[T], *, wait_s: float | None = None) -> T:
        """Once begun, the work goes to its end, also when its caller is cancelled. Raises
        WrittenElsewhere where another process has the base all the time."""
        deadline = time.monotonic() + (WAIT_S if wait_s is None else wait_s)
        while True:
            async with self._writing:
                try:
                    if await self._in_thread(self._records.take, tenant, base):
                        return await _to_its_end(work())
                finally:
                    # By the one thread, so after a `take` that went on when its caller was gone.
                    await _to_its_end(self._in_thread(self._records.let_go, tenant, base))
            if time.monotonic() >= deadline:
                raise WrittenElsewhere(base)
            await asyncio.sleep(LOOK_S)  # other bases have their turn

    async def _in_thread(self, work: Callable[[str, str], T], tenant: str, base: str) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, tenant, base)


async def _to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """What a thread or a server was asked to do is done after a cancellation, too: whoever writes
    next must not meet it."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
