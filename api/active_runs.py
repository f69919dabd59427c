"""Runs that go on now: each in a task of its own, which ends when its reader leaves."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from api.errors import Cancelled, going_down
from graph.runner import Ask, Event, Runner
from graph.threads import ThreadBusy
from ingest.errors import NotFound, ServiceError
from ingest.scope import Scope


@dataclass
class Took:
    """How a run went so far: tokens of chat models, and its outcome once it has one."""

    tokens: int = 0
    outcome: str | None = None

    def note(self, event: Event) -> None:
        if event.type == "node":
            self.tokens += event.data["entry"]["summary"].get("tokens", 0)
        elif event.type == "answer":
            self.outcome = event.data["outcome"]


@dataclass
class ActiveRun:
    """A run and its events so far unread; `first` is the event that carries the run id."""

    ask: Ask
    run_id: str
    task: asyncio.Task[None]
    first: Event
    rest: MemoryObjectReceiveStream[Event]
    closing: asyncio.Event
    took: Took
    started_at: str = field(
        default_factory=lambda: datetime.now(UTC).isoformat("T", "milliseconds")
    )

    async def events(self) -> AsyncIterator[Event]:
        """Raises Cancelled when another request cancels the run, NotReady when the service goes
        down, else what the run raises."""
        yield self.first
        async for event in self.rest:
            yield event
        try:
            await _outcome(self.task)
        except Cancelled:
            if self.closing.is_set():
                raise going_down() from None
            raise

    async def answer(self) -> dict[str, Any]:
        """The answer object of the whole run."""
        async for event in self.events():
            if event.type == "answer":
                return event.data
        raise RuntimeError("the run ended without an answer")


class ActiveRuns:
    def __init__(self, *, queue: int, stall_s: float) -> None:
        self._queue = queue
        self._stall_s = stall_s
        self._runs: dict[str, ActiveRun] = {}
        self._threads: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def start(self, runner: Runner, ask: Ask) -> AsyncIterator[ActiveRun]:
        """Raises ThreadBusy, NotReady, and what the runner refuses. Leaving ends the run.

        The run has a task outside every scope of the server: cancelling a scope around the
        graph's stream would leave its nodes running.
        """
        if self._closing.is_set():
            raise going_down()
        with self.thread(ask.scope, ask.thread_id):
            send, receive = anyio.create_memory_object_stream[Event](self._queue)
            took = Took()
            task = asyncio.create_task(self._pump(runner, ask, send, took))
            self._tasks.add(task)
            try:
                first = await _first(receive, task)
                run = ActiveRun(
                    ask, str(first.data["run_id"]), task, first, receive, self._closing, took
                )
                self._runs[run.run_id] = run
                try:
                    yield run
                finally:
                    del self._runs[run.run_id]
            finally:
                with anyio.CancelScope(shield=True):
                    receive.close()
                    await end(task)
                self._tasks.discard(task)

    @contextmanager
    def thread(self, scope: Scope, thread_id: str | None) -> Iterator[None]:
        """Takes the thread, where one is named, for as long as this is entered."""
        thread = scope.conversation(thread_id) if thread_id else None
        if thread in self._threads:
            raise ThreadBusy("this thread has a run that has not ended; wait for it or cancel it")
        if thread is not None:
            self._threads.add(thread)
        try:
            yield
        finally:
            if thread is not None:
                self._threads.discard(thread)

    def running(self, scope: Scope) -> list[ActiveRun]:
        return [run for run in self._runs.values() if scope.covers(run.ask.scope)]

    async def cancel(self, scope: Scope, run_id: str) -> None:
        """Returns when the run has ended. Raises NotFound for a run of others as well."""
        run = self._runs.get(run_id)
        if run is None or not scope.covers(run.ask.scope):
            raise NotFound("no such run")
        await end(run.task)

    async def close(self) -> None:
        """Ends every run; its reader is told that the service goes down."""
        self._closing.set()
        await asyncio.gather(*(end(task) for task in list(self._tasks)))

    async def _pump(
        self, runner: Runner, ask: Ask, send: MemoryObjectSendStream[Event], took: Took
    ) -> None:
        async with send:
            async for event in runner.stream(ask):
                took.note(event)
                try:
                    with anyio.fail_after(self._stall_s):
                        await send.send(event)
                except TimeoutError:
                    raise Cancelled("nobody read the events of this run") from None


async def _first(receive: MemoryObjectReceiveStream[Event], task: asyncio.Task[None]) -> Event:
    try:
        return await receive.receive()
    except anyio.EndOfStream:
        await _outcome(task)
        raise ServiceError("the run gave no event") from None


async def _outcome(task: asyncio.Task[None]) -> None:
    await asyncio.wait([task])
    if task.cancelled():
        raise Cancelled("the run was cancelled")
    task.result()


async def end(task: asyncio.Task[Any]) -> None:
    """Returns once it has ended. Its failure, if any, was told to its reader or has none left."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
