"""A place of one process goes to the key that had none for longest, and none is lost."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from api.fair_slots import FairSlots


async def waiting(slots: FairSlots, names: str, got: list[str]) -> list[asyncio.Task[None]]:
    async def one(name: str) -> None:
        await slots.take(name[0])
        got.append(name)

    tasks = [asyncio.create_task(one(f"{name}{n}")) for n, name in enumerate(names)]
    await asyncio.sleep(0)
    return tasks


async def test_a_key_with_one_run_waits_for_one_of_another_that_has_many() -> None:
    slots, got = FairSlots(1), list[str]()
    await slots.take("x")
    tasks = await waiting(slots, "aaaabb", got)
    for _ in tasks:
        slots.give_back()
        await asyncio.sleep(0)
    assert got == ["a0", "b4", "a1", "b5", "a2", "a3"]


async def test_who_leaves_keeps_no_place() -> None:
    slots, got = FairSlots(1), list[str]()
    await slots.take("x")
    tasks = await waiting(slots, "ab", got)
    tasks[0].cancel()
    slots.give_back()
    await asyncio.wait(tasks)
    assert got == ["b1"]


@settings(max_examples=60)
@given(
    limit=st.integers(1, 3),
    steps=st.lists(st.tuples(st.sampled_from("take give cancel".split()), st.integers(0, 9))),
)
def test_never_more_than_the_limit_and_never_one_lost(
    limit: int, steps: list[tuple[str, int]]
) -> None:
    async def run() -> None:
        slots, tasks, held = FairSlots(limit), list[asyncio.Task[None]](), 0
        for step, n in steps:
            if step == "take":
                tasks.append(asyncio.create_task(slots.take(str(n % 3))))
            elif step == "cancel" and tasks:
                tasks[n % len(tasks)].cancel()
            elif held:
                slots.give_back()
                held -= 1
            if n % 2:  # else the next step comes before the tasks have run
                await asyncio.sleep(0)
            ended = [t for t in tasks if t.done()]
            held += sum(not t.cancelled() for t in ended)
            tasks = [t for t in tasks if t not in ended]
            assert held <= limit
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        held += sum(not t.cancelled() for t in tasks)
        for _ in range(held):
            slots.give_back()
        for _ in range(limit):
            await asyncio.wait_for(slots.take("z"), 1)

    asyncio.run(run())
