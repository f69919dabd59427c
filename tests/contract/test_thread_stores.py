"""What every store of conversation threads must do: SQLite, and a real PostgreSQL."""

import time
from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from graph.adapters.postgres_threads import postgres_threads
from graph.adapters.sqlite_threads import sqlite_threads
from graph.builder import build
from graph.threads import DAY_S, Threads, checkpoint_id_at, sweep
from nodes.context import Context
from nodes.state import State, Turn
from tests.runs import QUESTION, ports


@pytest.fixture(params=["sqlite", "postgres"])
async def threads(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    if request.param == "sqlite":
        opened: Any = sqlite_threads(tmp_path / "threads.sqlite")
    else:
        opened = postgres_threads(request.getfixturevalue("postgres_server").new_database())
    async with opened as store:
        yield store


async def asked(threads: Threads, thread: str, question: str = QUESTION) -> State:
    """One run of the real graph on a thread, kept as the service keeps it."""
    state = State(question=question, knowledge_base="kb", started_at=time.time())
    given = {f.name: getattr(state, f.name) for f in fields(State) if f.name != "turns"}
    graph = build(ports(), threads.checkpointer)
    config: Any = {"configurable": {"thread_id": thread}}
    values = await graph.ainvoke(given, config, context=Context(), durability="exit")  # type: ignore[call-overload]
    turns = [*values.get("turns", []), Turn(question, "said")]
    await graph.aupdate_state(config, {"turns": turns}, as_node="decline")
    return await kept(threads, thread)


async def kept(threads: Threads, thread: str) -> State:
    config: Any = {"configurable": {"thread_id": thread}}
    values = (await build(ports(), threads.checkpointer).aget_state(config)).values
    return values if isinstance(values, State) else State(**values)


async def backdated(threads: Threads, thread: str, days: float) -> None:
    """As if its runs were `days` ago."""
    id = checkpoint_id_at(time.time() - days * DAY_S)
    saver = threads.checkpointer
    newest = await saver.aget_tuple({"configurable": {"thread_id": thread}})
    await saver.adelete_thread(thread)
    checkpoint = newest.checkpoint | {"id": id}
    config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    await saver.aput(config, checkpoint, newest.metadata, checkpoint["channel_versions"])


async def test_a_thread_keeps_what_was_said(threads: Threads) -> None:
    await asked(threads, "local/a", "first?")
    assert [t.question for t in (await asked(threads, "local/a", "then?")).turns] == [
        "first?",
        "then?",
    ]
    assert len((await asked(threads, "local/b")).turns) == 1


async def test_the_types_of_a_state_come_back(threads: Threads) -> None:
    state = await asked(threads, "local/a")
    assert isinstance(state.evidence[0].candidate.scores, dict)
    assert state.evidence[0].grade.verdict == "correct"


async def test_a_deleted_thread_is_gone_and_another_is_not(threads: Threads) -> None:
    await asked(threads, "local/a")
    await asked(threads, "local/b")
    await threads.checkpointer.adelete_thread("local/a")
    config = {"configurable": {"thread_id": "local/a"}}
    assert await threads.checkpointer.aget_tuple(config) is None
    assert len((await kept(threads, "local/b")).turns) == 1


async def test_sweeps_what_is_older_than_its_time_to_live(threads: Threads) -> None:
    for thread in ("old", "older", "young"):
        await asked(threads, thread)
    await backdated(threads, "old", 31)
    await backdated(threads, "older", 400)
    await backdated(threads, "young", 29)
    assert await sweep(threads, 30) == 2
    assert await threads.expired(checkpoint_id_at(time.time() + 60)) == ["young"]
    assert await sweep(threads, 30) == 0


async def test_a_thread_lives_from_its_last_run_on(threads: Threads) -> None:
    await asked(threads, "a")
    await backdated(threads, "a", 31)
    await asked(threads, "a", "again?")
    assert await sweep(threads, 30) == 0
    assert [t.question for t in (await kept(threads, "a")).turns] == [QUESTION, "again?"]


async def test_a_thread_is_free_again_after_a_failure(threads: Threads) -> None:
    with pytest.raises(ValueError, match="of the run"):
        async with threads.alone("a"):
            raise ValueError("of the run")
    async with threads.alone("a"):
        pass


def test_ids_of_checkpoints_sort_by_time() -> None:
    from langgraph.checkpoint.base.id import uuid6

    before, made, after = (
        checkpoint_id_at(time.time() - 1),
        str(uuid6(clock_seq=-2)),
        checkpoint_id_at(time.time() + 1),
    )
    assert before < made < after
