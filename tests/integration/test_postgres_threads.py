"""Conversations that several processes share, on a real PostgreSQL."""

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from api.doctor import examine, report_lines
from api.settings import Settings
from graph.adapters.postgres_threads import PostgresThreads, postgres_threads
from graph.compose import open_graph
from graph.runner import Ask
from graph.settings import GraphSettings
from graph.threads import ThreadBusy
from ingest.adapters.transformer_embedder import TransformerEmbedder
from ingest.errors import ConfigurationError, DependencyError, NotFound
from ingest.scope import LOCAL
from ingest.settings import DatabaseSettings, QdrantSettings
from tests.api_clients import client_of
from tests.postgres import Postgres, needed_binaries, postgres

ROOT = Path(__file__).parents[2]


async def two(url: str, opened: AsyncExitStack) -> list[PostgresThreads]:
    """As two API processes have them: each with connections of its own."""
    return [await opened.enter_async_context(postgres_threads(url)) for _ in range(2)]


async def test_two_processes_do_not_run_on_one_thread(postgres_server: Postgres) -> None:
    async with AsyncExitStack() as opened:
        here, there = await two(postgres_server.new_database(), opened)
        async with here.alone("local/a"):
            with pytest.raises(ThreadBusy):
                async with there.alone("local/a"):
                    pytest.fail("both are in")
            with pytest.raises(ThreadBusy):
                async with here.alone("local/a"):
                    pytest.fail("both are in")
            async with there.alone("local/b"):
                pass
        async with there.alone("local/a"):
            pass


async def test_a_cancelled_run_leaves_its_thread_free(postgres_server: Postgres) -> None:
    async with AsyncExitStack() as opened:
        here, there = await two(postgres_server.new_database(), opened)

        async def run() -> None:
            async with here.alone("a"):
                await asyncio.sleep(60)

        for delay in (0.0, 0.001, 0.01, 0.05):
            task = asyncio.create_task(run())
            await asyncio.sleep(delay)
            task.cancel()
            await asyncio.wait([task])
            async with there.alone("a"):
                pass


async def test_a_process_that_is_killed_leaves_its_threads_free(postgres_server: Postgres) -> None:
    url = postgres_server.new_database()
    code = (
        "import asyncio, sys\n"
        "from graph.adapters.postgres_threads import postgres_threads\n"
        "async def main():\n"
        "    async with postgres_threads(sys.argv[1]) as threads, threads.alone('a'):\n"
        "        print('in', flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", code, url]
    other = await asyncio.to_thread(subprocess.Popen, command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert await asyncio.to_thread(other.stdout.readline) == b"in\n"
        async with postgres_threads(url) as threads:
            with pytest.raises(ThreadBusy):
                async with threads.alone("a"):
                    pytest.fail("both are in")
            other.kill()
            other.wait()
            async with asyncio.timeout(10):
                await _until_free(threads)
    finally:
        other.kill()
        other.wait()
        other.stdout.close()


async def _until_free(threads: PostgresThreads) -> None:
    while True:
        try:
            async with threads.alone("a"):
                return
        except ThreadBusy:
            await asyncio.sleep(0.05)


async def test_many_processes_set_the_tables_up_at_once(postgres_server: Postgres) -> None:
    url = postgres_server.new_database()
    async with AsyncExitStack() as opened:
        await asyncio.gather(*(opened.enter_async_context(postgres_threads(url)) for _ in range(5)))


async def test_goes_on_after_the_database_was_restarted(tmp_path: Path) -> None:
    with postgres(needed_binaries()) as server:
        async with postgres_threads(server.url) as threads:
            server.stop()
            with pytest.raises(DependencyError):
                async with threads.alone("a"):
                    pytest.fail("nobody can know that it is alone")
            await asyncio.to_thread(server.start)
            async with threads.alone("a"):
                assert await threads.expired("0") == []


async def test_a_follow_up_on_another_replica_sees_what_was_said(
    postgres_server: Postgres, store_path: Path, qdrant: QdrantSettings
) -> None:
    database = DatabaseSettings(url=SecretStr(postgres_server.new_database()))
    async with AsyncExitStack() as opened:
        services = [
            await opened.enter_async_context(
                open_graph(
                    GraphSettings(data_dir=store_path / name, database=database, qdrant=qdrant)
                )
            )
            for name in ("one", "two")
        ]
        await services[0].corpus.writer.create_knowledge_base(LOCAL, "kb")
        for service, question in zip(services, ("Who are you?", "Hello!"), strict=True):
            await service.runner.ask(Ask(question, "kb", thread_id="t"))
        first, second = services
        config: Any = {"configurable": {"thread_id": "local/t"}}
        turns = (await first.graph.aget_state(config)).values["turns"]
        assert [turn.question for turn in turns] == ["Who are you?", "Hello!"]
        assert not (store_path / "one" / "threads.sqlite").exists()
        await second.runner.ask(Ask("Hello!", "kb"))
        await first.runner.delete_thread(LOCAL, "t")
        with pytest.raises(NotFound):
            await second.runner.delete_thread(LOCAL, "t")
        assert await _rows(database) == 0


async def test_a_run_elsewhere_on_the_thread_is_a_409(
    postgres_server: Postgres,
    store_path: Path,
    qdrant: QdrantSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def loaded(*_: Any, **__: Any) -> list[Any]:
        """The embedder's weights take seconds; no question of this test is searched."""
        return []

    monkeypatch.setattr(TransformerEmbedder, "load", loaded)
    monkeypatch.setattr(TransformerEmbedder, "encode", loaded)
    url = postgres_server.new_database()
    database = DatabaseSettings(url=SecretStr(url))
    settings = Settings(data_dir=store_path / "crag", database=database, qdrant=qdrant)
    asking = {"question": "Hello!", "knowledge_base": "kb", "thread_id": "t"}
    async with postgres_threads(url) as elsewhere, client_of(settings, open_graph) as client:
        await client.post("/v1/knowledge-bases", json={"name": "kb"})
        async with elsewhere.alone("local/t"):
            busy = await client.post("/v1/ask", json=asking)
            deleting = await client.delete("/v1/threads/t")
        free = await client.post("/v1/ask", json=asking)
    for response in (busy, deleting):
        assert (response.status_code, response.json()["code"]) == (409, "thread_busy")
    assert (free.status_code, free.json()["outcome"]) == (200, "no_retrieval")


async def _rows(database: DatabaseSettings) -> int:
    import psycopg

    assert database.url is not None
    url = database.url.get_secret_value()
    async with await psycopg.AsyncConnection.connect(url) as connection:
        cursor = await connection.execute("SELECT count(*) FROM checkpoints")
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize(
    "url", ["postgresql://u:hidden-word@127.0.0.1:9/x", "postgresql:///x?host=/not/there"]
)
async def test_a_database_that_is_away_is_told_at_start_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError, match="CRAG_DATABASE__URL") as error:
        async with postgres_threads(url):
            pytest.fail("it opened")
    assert "hidden-word" not in str(error.value)


def test_doctor_tells_where_records_and_conversations_are_kept(
    postgres_server: Postgres,
    tmp_path: Path,
    qdrant: QdrantSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.adapters.qdrant_probe.probe", lambda settings: "1.19.1")

    def report(url: str | None, store: QdrantSettings = qdrant) -> dict[str, Any]:
        database = DatabaseSettings(url=SecretStr(url) if url else None)
        return examine(Settings(data_dir=tmp_path / "crag", database=database, qdrant=store))

    in_files = report_lines(report(None))
    assert "Records      SQLite, in the data folder: for one process" in in_files
    assert "Threads      SQLite, 30 days" in in_files
    url = postgres_server.new_database()
    found = report(url)
    assert "Records      PostgreSQL, for all processes that share it" in report_lines(found)
    assert "Threads      PostgreSQL, 30 days" in report_lines(found)
    assert found["problems"] == []
    assert found["records"] == {"store": "PostgreSQL", "shared": True}
    (problem,) = report(url, QdrantSettings())["problems"]
    assert "set CRAG_QDRANT__URL" in problem
    problems = report("postgresql://u:hidden-word@127.0.0.1:9/x")["problems"]
    assert problems
    assert all("CRAG_DATABASE__URL" in one and "hidden-word" not in one for one in problems)
