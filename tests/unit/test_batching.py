"""The micro-batcher: what waits while the worker is busy goes in together."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from ingest.batching import MicroBatcher


class Worker:
    """Doubles numbers; waits at the gate before each batch, and remembers the batches."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.batches: list[list[int]] = []

    def __call__(self, items: list[int]) -> list[int]:
        self.batches.append(items)
        self.entered.set()
        assert self.gate.wait(10)
        if 13 in items:
            raise ValueError("thirteen")
        return [2 * item for item in items]


@pytest.fixture
def worker() -> Worker:
    return Worker()


@pytest.fixture
def batcher(worker: Worker) -> Iterator[MicroBatcher[int, int]]:
    batcher = MicroBatcher[int, int](worker, limit=4, name="test")
    yield batcher
    worker.gate.set()
    batcher.close()


async def busy(batcher: MicroBatcher[int, int], worker: Worker) -> "asyncio.Task[list[int]]":
    """A first call that the worker has begun and waits in."""
    task = asyncio.create_task(batcher([0]))
    await asyncio.to_thread(worker.entered.wait, 10)
    return task


async def test_each_call_gets_its_own_results(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    later = [asyncio.create_task(batcher(items)) for items in ([1, 2], [3], [4])]
    await asyncio.sleep(0)
    worker.gate.set()
    assert await asyncio.gather(first, *later) == [[0], [2, 4], [6], [8]]


async def test_calls_that_wait_share_one_batch(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    later = [asyncio.create_task(batcher([n])) for n in (1, 2, 3)]
    await asyncio.sleep(0)
    worker.gate.set()
    await asyncio.gather(first, *later)
    assert worker.batches == [[0], [1, 2, 3]]


async def test_a_batch_holds_at_most_its_limit(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    later = [asyncio.create_task(batcher(items)) for items in ([1, 2, 3], [4, 5], [6])]
    await asyncio.sleep(0)
    worker.gate.set()
    await asyncio.gather(first, *later)
    assert worker.batches == [[0], [1, 2, 3], [4, 5, 6]]


async def test_one_large_call_goes_in_whole(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    worker.gate.set()
    assert await batcher(range(12)) == [2 * n for n in range(12)]
    assert len(worker.batches) == 1


async def test_nothing_to_do_is_done_at_once(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    assert await batcher([]) == []
    assert worker.batches == []


async def test_an_error_reaches_every_call_of_the_batch_and_no_other(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    later = [asyncio.create_task(batcher([n])) for n in (1, 13)]
    await asyncio.sleep(0)
    worker.gate.set()
    results = await asyncio.gather(first, *later, return_exceptions=True)
    assert results[0] == [0]
    assert [str(error) for error in results[1:]] == ["thirteen", "thirteen"]
    assert await batcher([5]) == [10]


async def test_a_cancelled_call_that_waited_is_not_computed(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    gone, stays = (asyncio.create_task(batcher([n])) for n in (1, 2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    worker.gate.set()
    assert await asyncio.gather(first, stays) == [[0], [4]]
    assert worker.batches == [[0], [2]]
    assert gone.cancelled()


async def test_a_call_cancelled_while_it_is_computed_hurts_no_other(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    second = asyncio.create_task(batcher([2]))
    await asyncio.sleep(0)
    first.cancel()
    worker.gate.set()
    assert await second == [4]
    assert first.cancelled()


async def test_close_ends_after_what_was_handed_in(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    second = asyncio.create_task(batcher([2]))
    await asyncio.sleep(0)
    batcher.close()
    batcher.close()
    worker.gate.set()
    assert await asyncio.gather(first, second) == [[0], [4]]
    with pytest.raises(RuntimeError, match="closed"):
        await batcher([3])


async def test_it_belongs_to_no_event_loop(batcher: MicroBatcher[int, int], worker: Worker) -> None:
    worker.gate.set()
    assert await batcher([1]) == [2]
    assert await asyncio.to_thread(lambda: asyncio.run(batcher([2]))) == [4]


async def test_a_worker_that_gives_too_few_results_is_an_error() -> None:
    batcher = MicroBatcher[int, int](lambda items: items[:-1], limit=4, name="short")
    with pytest.raises(ValueError, match="result"):
        await batcher([1, 2])
    batcher.close()


async def test_a_worker_that_dies_leaves_nobody_waiting() -> None:
    """A panic inside a Rust extension is no Exception."""

    def panics(items: list[int]) -> list[int]:
        raise BaseException("panic")

    batcher = MicroBatcher[int, int](panics, limit=4, name="dies")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="panic"):
            await asyncio.wait_for(batcher([1]), 5)
    batcher.close()
