"""The micro-batcher: what waits while the worker is busy goes in together."""

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


async def test_what_has_no_room_waits_in_its_place(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    """The lone 9 would fit beside 4 and 5, but it came after what did not."""
    first = await busy(batcher, worker)
    calls = [[1, 2, 3], [4, 5], [6, 7, 8], [9], [20, 21, 22, 23, 24], [25]]
    later = [asyncio.create_task(batcher(items)) for items in calls]
    await asyncio.sleep(0)
    worker.gate.set()
    assert await asyncio.gather(first, *later) == [[2 * n for n in c] for c in ([0], *calls)]
    assert worker.batches == [[0], [1, 2, 3], [4, 5], [6, 7, 8, 9], [20, 21, 22, 23, 24], [25]]


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


async def test_where_all_that_waited_were_cancelled_nothing_is_computed(
    batcher: MicroBatcher[int, int], worker: Worker
) -> None:
    first = await busy(batcher, worker)
    gone = [asyncio.create_task(batcher(items)) for items in ([1, 2, 3], [4, 5])]
    await asyncio.sleep(0)
    for call in gone:
        call.cancel()
    await asyncio.wait(gone)
    worker.gate.set()
    assert await first == [0]
    assert await batcher([6]) == [12]
    assert worker.batches == [[0], [6]]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.lists(st.tuples(st.integers(1, 8), st.booleans()), max_size=12))
def test_calls_that_stay_are_computed_in_order_and_in_batches_of_the_limit(
    limit: int, sizes: list[tuple[int, bool]]
) -> None:
    """For calls of any sizes, some of them cancelled while they wait."""
    calls = [list(range(100 * n, 100 * n + size)) for n, (size, _) in enumerate(sizes, start=1)]
    stay = [call for call, (_, stays) in zip(calls, sizes, strict=True) if stays]
    worker = Worker()

    async def results() -> list[list[int]]:
        batcher = MicroBatcher[int, int](worker, limit=limit, name="property")
        first = await busy(batcher, worker)
        tasks = [asyncio.create_task(batcher(call)) for call in calls]
        await asyncio.sleep(0)
        for task, (_, stays) in zip(tasks, sizes, strict=True):
            if not stays:
                task.cancel()
        await asyncio.sleep(0)
        batcher.close()
        worker.gate.set()
        async with asyncio.timeout(5):
            done = await asyncio.gather(first, *tasks, return_exceptions=True)
        return [result for result in done[1:] if isinstance(result, list)]

    assert asyncio.run(results()) == [[2 * n for n in call] for call in stay]
    batches = worker.batches[1:]
    assert [n for batch in batches for n in batch] == [n for call in stay for n in call]
    assert all(len(batch) <= limit or batch in stay for batch in batches)
    if stay == calls:
        assert batches == in_batches(calls, limit)


def in_batches(calls: list[list[int]], limit: int) -> list[list[int]]:
    batches: list[list[int]] = []
    for call in calls:
        if batches and len(batches[-1]) + len(call) <= limit:
            batches[-1] = batches[-1] + call
        else:
            batches.append(call)
    return batches


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


async def test_close_while_busy_returns_at_once_and_drops_nothing() -> None:
    """Not even what has no room in the next batch; the thread ends after the last of it."""
    worker, threads = Worker(), set[threading.Thread]()

    def work(items: list[int]) -> list[int]:
        threads.add(threading.current_thread())
        return worker(items)

    batcher = MicroBatcher[int, int](work, limit=2, name="closed")
    first = await busy(batcher, worker)
    gone, *later = (asyncio.create_task(batcher(items)) for items in ([3], [1, 2], [4, 5], [6]))
    await asyncio.sleep(0)
    batcher.close()
    gone.cancel()
    with pytest.raises(RuntimeError, match="closed"):
        await batcher([7])
    await asyncio.wait([gone])
    assert worker.batches == [[0]]
    worker.gate.set()
    assert await asyncio.gather(first, *later) == [[0], [2, 4], [8, 10], [12]]
    assert worker.batches == [[0], [1, 2], [4, 5], [6]]
    (thread,) = threads
    await asyncio.to_thread(thread.join, 10)
    assert not thread.is_alive()


@pytest.mark.parametrize("closes", [False, True], ids=["open to the end", "closed meanwhile"])
def test_calls_from_many_event_loops_get_their_own_results(closes: bool) -> None:
    """Six loops, each in a thread, with thirty calls at any moment; every fifth is cancelled."""
    threads, batches = set[int](), list[list[int]]()

    def work(items: list[int]) -> list[int]:
        threads.add(threading.get_ident())
        batches.append(items)
        time.sleep(0.0005)
        return [2 * item for item in items]

    batcher = MicroBatcher[int, int](work, limit=4, name="shared")

    async def call(items: list[int], begins: float) -> list[int]:
        await asyncio.sleep(begins)
        return await batcher(items)

    async def calls(loop: int) -> list[tuple[bool, list[int], list[int] | BaseException]]:
        chance = random.Random(loop)
        items = [
            list(range(first, first + chance.randint(1, 6)))
            for first in range(1_000 * loop, 1_000 * loop + 300, 10)
        ]
        tasks = [asyncio.create_task(call(i, chance.uniform(0, 0.02))) for i in items]
        for task in tasks[::5]:
            await asyncio.sleep(chance.uniform(0, 0.004))
            task.cancel()
        if closes and loop == 0:
            batcher.close()
        async with asyncio.timeout(10):
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        return [(n % 5 == 0, *pair) for n, pair in enumerate(zip(items, ends, strict=True))]

    with ThreadPoolExecutor(6) as pool:
        ends = [
            end
            for of_loop in pool.map(lambda n: asyncio.run(calls(n)), range(6))
            for end in of_loop
        ]
    batcher.close()
    for cancelled, items, end in ends:
        if isinstance(end, list):
            assert end == [2 * item for item in items]
        elif isinstance(end, RuntimeError):
            assert closes and str(end) == "the batcher is closed"
        else:
            assert cancelled and isinstance(end, asyncio.CancelledError)
    assert len(threads) == 1
    computed = [item for batch in batches for item in batch]
    assert len(computed) == len(set(computed))
    assert all(len(b) <= 4 or b == list(range(b[0], b[0] + len(b))) for b in batches)


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
