"""Concurrent calls share one batch: what waits while the worker is busy goes in together."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

_Job = tuple[list[In], Future[list[Out]]]


class MicroBatcher(Generic[In, Out]):
    """Runs `work` on the items of all waiting calls at once, in one thread of its own.

    A batch holds at most `limit` items unless a single call brings more. It belongs to no event
    loop. If `work` raises, every call of that batch raises the same error.
    """

    def __init__(self, work: Callable[[list[In]], Sequence[Out]], *, limit: int, name: str) -> None:
        self._work = work
        self._limit = limit
        self._queue: SimpleQueue[_Job[In, Out] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._started = threading.Lock()
        self._closed = False

    async def __call__(self, items: Sequence[In]) -> list[Out]:
        if not items:
            return []
        with self._started:
            if self._closed:
                raise RuntimeError("the batcher is closed")
            if not self._thread.is_alive():
                self._thread.start()
            future: Future[list[Out]] = Future()
            self._queue.put((list(items), future))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Ends the thread after what was already handed in."""
        with self._started:
            if not self._closed and self._thread.is_alive():
                self._queue.put(None)
            self._closed = True

    def _serve(self) -> None:
        carried: _Job[In, Out] | None = None
        while (job := carried or self._queue.get()) is not None:
            jobs, carried, ended = self._gather(job)
            self._finish([j for j in jobs if j[1].set_running_or_notify_cancel()])
            if ended:
                return

    def _gather(
        self, first: _Job[In, Out]
    ) -> tuple[list[_Job[In, Out]], _Job[In, Out] | None, bool]:
        jobs, size = [first], len(first[0])
        while not self._queue.empty():
            job = self._queue.get()
            if job is None:
                return jobs, None, True
            if size + len(job[0]) > self._limit:
                return jobs, job, False
            jobs.append(job)
            size += len(job[0])
        return jobs, None, False

    def _finish(self, jobs: list[_Job[In, Out]]) -> None:
        if not jobs:
            return
        batch = [item for items, _ in jobs for item in items]
        try:
            results = list(self._work(batch))
            if len(results) != len(batch):
                raise ValueError(f"{len(results)} results for {len(batch)} items")
        except BaseException as error:  # a panic in a Rust extension is no Exception
            known = error if isinstance(error, Exception) else RuntimeError(f"worker: {error!r}")
            for _, future in jobs:
                future.set_exception(known)
            return
        for items, future in jobs:
            future.set_result(results[: len(items)])
            del results[: len(items)]
