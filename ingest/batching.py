"""Concurrent calls share one batch: what waits while the worker is busy goes in together."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

_Job = tuple[list[In], Future[list[Out]]]


class MicroBatcher(Generic[In, Out]):
    """Runs `work` on the items of all waiting calls at once, in one thread of its own.

    A batch holds at most `limit` items unless a single call brings more. It belongs to no event
    loop. If `work` raises, every call of that batch raises the same error. The interpreter waits
    for its thread at exit: one that is inside a native library then would abort the process.
    """

    def __init__(self, work: Callable[[list[In]], Sequence[Out]], *, limit: int, name: str) -> None:
        self._work = work
        self._limit = limit
        self._waiting: deque[_Job[In, Out]] = deque()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._open = threading.Lock()
        self._closed = False

    async def __call__(self, items: Sequence[In]) -> list[Out]:
        """Raises RuntimeError once it is closed."""
        if not items:
            return []
        future: Future[list[Out]] = Future()
        with self._open:
            if self._closed:
                raise RuntimeError("the batcher is closed")
            self._waiting.append((list(items), future))
            self._pool.submit(self._run_batch)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Ends the thread after what was already handed in."""
        with self._open:
            self._closed = True
            self._pool.shutdown(wait=False)

    def _run_batch(self) -> None:
        """Once for each call, so that the last finds what no batch before it had room for."""
        jobs: list[_Job[In, Out]] = []
        size = 0
        while self._waiting and (not jobs or size + len(self._waiting[0][0]) <= self._limit):
            jobs.append(self._waiting.popleft())
            size += len(jobs[-1][0])
        self._finish([job for job in jobs if job[1].set_running_or_notify_cancel()])

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
