"""What is kept for a time alone: swept at start and every hour."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

SWEEP_EVERY_S = 3600
"""What is swept outlives its time by at most this."""
DAY_S = 86_400

log = logging.getLogger("crag.retention")


@asynccontextmanager
async def swept(
    what: str, ttl_days: float, sweep: Callable[[float], Awaitable[int]]
) -> AsyncIterator[None]:
    """While this is entered, `sweep` deletes what is older than so many days and says how many; 0
    days: for ever."""
    if not ttl_days:
        yield
        return
    sweeping = asyncio.create_task(_keep_sweeping(what, ttl_days, sweep))
    try:
        yield
    finally:
        sweeping.cancel()
        await asyncio.wait([sweeping])


async def _keep_sweeping(
    what: str, ttl_days: float, sweep: Callable[[float], Awaitable[int]]
) -> None:
    while True:
        try:
            if number := await sweep(ttl_days):
                log.info("%d %s were older than %g days and are deleted", number, what, ttl_days)
        except Exception as error:  # noqa: BLE001 - a store that is away now may be back in an hour
            log.warning("%s were not swept: %s", what, error)
        await asyncio.sleep(SWEEP_EVERY_S)
