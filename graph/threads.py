"""Conversations: where threads are kept, one run at a time on each, and how long they live."""

import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from graph.retention import DAY_S, swept
from graph.settings import GraphSettings
from ingest.errors import ServiceError

UUID_EPOCH_S = -12_219_292_800
"""15 October 1582, from which the time in a UUID counts, in steps of 100 ns."""


class ThreadBusy(ServiceError):
    """The thread has a run that has not ended."""

    code = "thread_busy"


class Threads(Protocol):
    """A store of conversation threads by name."""

    @property
    def checkpointer(self) -> Any:
        """LangGraph's saver for this store."""

    async def expired(self, before: str, only: str | None = None) -> list[str]:
        """Threads whose newest checkpoint has an id below `before`; of all, or of `only`."""

    def alone(self, thread: str) -> AbstractAsyncContextManager[None]:
        """Raises ThreadBusy while another process or task is in it for this thread."""


@asynccontextmanager
async def open_threads(settings: GraphSettings, folder: Path) -> AsyncIterator[Threads]:
    """The store that the settings name, swept at start and every hour.

    Raises ConfigurationError for a store that cannot be opened.
    """
    async with _store(settings, folder) as threads:
        days = settings.threads.ttl_days
        async with swept("threads", days, lambda ttl_days: sweep(threads, ttl_days)):
            yield threads


async def sweep(threads: Threads, ttl_days: float) -> int:
    """Deletes the threads whose last run is longer ago; returns their number."""
    before = checkpoint_id_at(time.time() - ttl_days * DAY_S)
    deleted = 0
    for thread in await threads.expired(before):
        try:
            async with threads.alone(thread):
                # A run may have ended on it since.
                if await threads.expired(before, thread):
                    await threads.checkpointer.adelete_thread(thread)
                    deleted += 1
        except ThreadBusy:
            continue
    return deleted


def checkpoint_id_at(seconds: float) -> str:
    """The lowest id of a checkpoint at this Unix time: UUIDs of version 6 sort by time."""
    steps = int((seconds - UUID_EPOCH_S) * 10_000_000)
    high, middle, low = steps >> 28, (steps >> 12) & 0xFFFF, steps & 0xFFF
    return f"{high:08x}-{middle:04x}-6{low:03x}-0000-000000000000"


def _store(settings: GraphSettings, folder: Path) -> AbstractAsyncContextManager[Threads]:
    if settings.database.url is not None:
        from graph.adapters.postgres_threads import postgres_threads

        return postgres_threads(settings.database.url.get_secret_value())
    from graph.adapters.sqlite_threads import sqlite_threads

    return sqlite_threads(folder / "threads.sqlite")
