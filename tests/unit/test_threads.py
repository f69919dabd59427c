"""The time to live of threads: swept at start and on, and never under a run."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from graph import retention
from graph import threads as module
from graph.settings import GraphSettings, ThreadSettings
from graph.threads import ThreadBusy, open_threads, sweep
from ingest.errors import DependencyError


class FakeThreads:
    """`old` are expired; `busy` have a run; each call to `expired` may have an error to raise."""

    def __init__(self, *old: str, busy: str = "", errors: list[Exception] | None = None) -> None:
        self.old = list(old)
        self.busy = busy
        self.errors = errors or []
        self.checkpointer = self
        self.while_entering: Callable[[], Any] = lambda: None

    async def expired(self, before: str, only: str | None = None) -> list[str]:
        if self.errors:
            raise self.errors.pop()
        return [thread for thread in self.old if only in (None, thread)]

    async def adelete_thread(self, thread: str) -> None:
        self.old.remove(thread)

    @asynccontextmanager
    async def alone(self, thread: str) -> AsyncIterator[None]:
        if thread == self.busy:
            raise ThreadBusy("busy")
        self.while_entering()
        yield


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def opened(store: FakeThreads, ttl_days: float = 30) -> Any:
        @asynccontextmanager
        async def fake(*_: Any) -> AsyncIterator[FakeThreads]:
            yield store

        monkeypatch.setattr(module, "_store", fake)
        monkeypatch.setattr(retention, "SWEEP_EVERY_S", 0.005)
        settings = GraphSettings(threads=ThreadSettings(ttl_days=ttl_days))
        return open_threads(settings, Path("unused"))

    return opened


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.002)


async def test_sweeps_at_start_and_again_later(opened: Callable[..., Any]) -> None:
    store = FakeThreads("a", "b")
    async with opened(store):
        await until(lambda: store.old == [])
        store.old.append("c")
        await until(lambda: store.old == [])


async def test_a_store_that_was_away_is_swept_later(opened: Callable[..., Any]) -> None:
    store = FakeThreads("a", errors=[DependencyError("away")])
    async with opened(store):
        await until(lambda: store.old == [])


async def test_without_a_time_to_live_nothing_is_deleted(opened: Callable[..., Any]) -> None:
    store = FakeThreads("a")
    async with opened(store, ttl_days=0):
        await asyncio.sleep(0.03)
    assert store.old == ["a"]


async def test_leaves_a_thread_with_a_run_for_the_next_time() -> None:
    store = FakeThreads("a", "b", busy="a")
    assert await sweep(store, 30) == 1  # type: ignore[arg-type]
    assert store.old == ["a"]


async def test_a_run_that_ended_meanwhile_saves_its_thread() -> None:
    store = FakeThreads("a")
    store.while_entering = lambda: store.old.clear()
    assert await sweep(store, 30) == 0  # type: ignore[arg-type]
