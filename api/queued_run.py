"""A run that may have to wait for its place, begun beside whoever waits for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from api.active_runs import ActiveRun, end

Begin = Callable[[Callable[[], None]], AbstractAsyncContextManager[ActiveRun]]
"""Given what to call where the run has to wait."""


class QueuedRun:
    def __init__(self, beginning: asyncio.Task[ActiveRun], waits: asyncio.Event) -> None:
        self._beginning = beginning
        self._waits = waits

    async def begun(self) -> ActiveRun:
        """The run, once it has its place. Raises what refuses it."""
        return await asyncio.shield(self._beginning)

    async def decided(self) -> bool:
        """Whether it has begun; False once it has to wait. Raises what refuses it at once."""
        waiting = asyncio.create_task(self._waits.wait())
        try:
            done, _ = await asyncio.wait(
                [self._beginning, waiting], return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            waiting.cancel()
        if self._beginning not in done:
            return False
        self._beginning.result()
        return True


@asynccontextmanager
async def queued(begin: Begin) -> AsyncIterator[QueuedRun]:
    """Leaving ends the run, and its wait."""
    waits = asyncio.Event()
    async with AsyncExitStack() as held:
        beginning = asyncio.create_task(held.enter_async_context(begin(waits.set)))
        try:
            yield QueuedRun(beginning, waits)
        finally:
            await end(beginning)
