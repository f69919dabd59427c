"""Two processes on one PostgreSQL and one Qdrant: what one writes, the other answers from."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ingest.adapters.bm25 import Bm25Encoder
from ingest.compose import open_index
from ingest.errors import ConfigurationError, DependencyError, EmbedderMismatch, NotFound
from ingest.local import copy_here
from ingest.records import WrittenElsewhere
from ingest.scope import LOCAL
from ingest.settings import DatabaseSettings, IndexSettings, QdrantSettings, own_folder, read
from tests.corpus import BASE, OpenCorpus
from tests.fakes import HashingEmbedder, Killed
from tests.places import Place
from tests.postgres import Postgres, needed_binaries, postgres

ROOT = Path(__file__).parents[2]
OLD = "# Refunds\n\nRefunds are paid within thirty days of the return.\n"
NEW = "# Refunds\n\nRefunds are paid within five days of the return.\n"
LONG = "\n\n".join(f"Paragraph {n} says what it says of the matter." for n in range(30))


@pytest.fixture
def place(postgres_server: Postgres, store_path: Path) -> Place:
    return Place(postgres_server.new_database(), store_path)


@pytest.fixture
async def two(place: Place) -> AsyncIterator[list[OpenCorpus]]:
    async with AsyncExitStack() as opened:
        yield [await opened.enter_async_context(place.process(name)) for name in ("one", "two")]


async def stand_alone(corpus: OpenCorpus, *expected: str) -> None:
    """These documents are there, with all of their passages, and no passage of any other."""
    documents = await corpus.index.documents(LOCAL, BASE)
    assert [d.source for d in documents] == list(expected)
    wanted = sum(d.chunks for d in documents)
    assert await corpus.chunks() == wanted
    assert await corpus.vectors.count(LOCAL.tenant, BASE) == wanted
    assert corpus.records.unfinished() == []


async def test_what_one_ingests_the_other_answers_until_it_is_gone(two: list[OpenCorpus]) -> None:
    here, there = two
    await here.upload("refunds.md", OLD)
    (found,) = await there.found("refunds")
    assert "thirty" in found.chunk.text
    key = found.chunk.chunk_id
    assert (await here.vectors.get([key])).keys() == (await there.vectors.get([key])).keys()
    await there.upload("refunds.md", NEW)
    (found,) = await here.found("refunds")
    assert "five" in found.chunk.text
    await stand_alone(here, "refunds.md")
    await here.delete("refunds.md")
    assert await there.found("refunds") == []
    await stand_alone(there)


async def test_an_access_list_holds_in_both_at_once(two: list[OpenCorpus]) -> None:
    here, there = two
    result = await here.upload("refunds.md", OLD)
    assert result.document_id and await there.sources("refunds") == ["refunds.md"]
    await here.writer.set_acl(LOCAL, BASE, result.document_id, ["group:hr"])
    assert await there.sources("refunds") == []
    await there.writer.set_acl(LOCAL, BASE, result.document_id, ["*"])
    assert await here.sources("refunds") == ["refunds.md"]
    await there.writer.set_base_acl(LOCAL, BASE, ["group:hr"])
    with pytest.raises(NotFound):
        await here.found("refunds")


async def test_a_base_that_is_made_anew_is_no_longer_the_old_one(two: list[OpenCorpus]) -> None:
    here, there = two
    await here.upload("refunds.md", OLD)
    assert await there.sources("refunds") == ["refunds.md"]
    await here.writer.delete_knowledge_base(LOCAL, BASE)
    await here.writer.create_knowledge_base(LOCAL, BASE)
    await here.upload("other.md", NEW)
    assert await there.sources("refunds") == ["other.md"]
    await stand_alone(there, "other.md")


async def test_the_same_document_at_once_is_one_version(two: list[OpenCorpus]) -> None:
    results = await asyncio.gather(*(one.upload("long.md", LONG) for one in two * 3))
    assert len({result.document_id for result in results}) == 1
    await stand_alone(two[0], "long.md")


async def test_versions_at_once_leave_one_of_them_whole(two: list[OpenCorpus]) -> None:
    texts = [OLD, NEW, LONG, OLD + LONG]
    await asyncio.gather(
        *(two[n % 2].upload("refunds.md", text) for n, text in enumerate(texts * 2))
    )
    await asyncio.gather(
        *(one.upload(f"{n}.md", f"{text}\n{n}") for n, one in enumerate(two) for text in (OLD, NEW))
    )
    for one in two:
        await stand_alone(one, "0.md", "1.md", "refunds.md")


async def test_a_process_that_starts_leaves_alone_what_is_being_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.process("one") as here:
        going, go_on = asyncio.Event(), asyncio.Event()
        put = here.vectors.put

        async def slow(*written: Any) -> None:
            going.set()
            await go_on.wait()
            await put(*written)

        monkeypatch.setattr(here.vectors, "put", slow)
        writing = asyncio.create_task(here.upload("refunds.md", OLD))
        await going.wait()
        async with place.process("two") as there:
            monkeypatch.setattr("ingest.turns.WAIT_S", 0.1)
            with pytest.raises(WrittenElsewhere):
                await there.upload("other.md", NEW)
            monkeypatch.undo()
            waiting = asyncio.create_task(there.upload("other.md", NEW))
            await asyncio.sleep(0.1)
            assert await there.found("refunds") == [] and not waiting.done()
            go_on.set()
            await asyncio.gather(writing, waiting)
            await stand_alone(there, "other.md", "refunds.md")


async def test_a_cancelled_write_lets_the_other_one_write(two: list[OpenCorpus]) -> None:
    here, there = two
    for delay in (0.0, 0.002, 0.01, 0.05):
        task = asyncio.create_task(here.upload("refunds.md", OLD))
        await asyncio.sleep(delay)
        task.cancel()
        await asyncio.wait([task])
        async with asyncio.timeout(20):
            await there.upload("refunds.md", NEW)
    await there.upload("other.md", OLD)
    await stand_alone(there, "other.md", "refunds.md")


async def test_who_was_taken_for_dead_does_not_go_live(
    two: list[OpenCorpus], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a machine that was away for so long that the server let go of what it held."""
    here, there = two
    await here.upload("refunds.md", OLD)
    going, go_on = asyncio.Event(), asyncio.Event()
    put = here.vectors.put

    async def slow(*written: Any) -> None:
        going.set()
        await go_on.wait()
        await put(*written)

    monkeypatch.setattr(here.vectors, "put", slow)
    late = asyncio.create_task(here.upload("refunds.md", LONG))
    await going.wait()
    with psycopg.connect(place.url, autocommit=True) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND "
            "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
    await there.upload("refunds.md", NEW)
    go_on.set()
    with pytest.raises(DependencyError, match="took over"):
        await late
    monkeypatch.undo()
    (found,) = await here.found("refunds")
    assert "five" in found.chunk.text
    await here.upload("refunds.md", LONG)
    await stand_alone(there, "refunds.md")


async def test_what_a_process_left_that_was_killed_is_swept_by_the_next_write(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.process("one") as here, place.process("two") as there:

        def killed(*_: object) -> None:
            raise Killed

        monkeypatch.setattr(here.records, "make_live", killed)
        with pytest.raises(Killed):
            await here.upload("long.md", LONG)
        assert await there.chunks() > 1 and await there.found("paragraph") == []
        await there.upload("refunds.md", OLD)
        await stand_alone(there, "refunds.md")


async def test_a_process_that_is_killed_lets_go_at_once(place: Place) -> None:
    code = (
        "import sys, time\n"
        "from ingest.adapters.postgres_database import PostgresDatabase\n"
        "from ingest.adapters.record_rows import RECORDS\n"
        "from ingest.adapters.sql_records import SqlRecords\n"
        "records = SqlRecords(PostgresDatabase(sys.argv[1], RECORDS))\n"
        f"assert records.take('local', {BASE!r})\n"
        "print('taken', flush=True)\n"
        "time.sleep(60)\n"
    )
    async with place.process("one") as here:
        command = [sys.executable, "-c", code, place.url]
        other = await asyncio.to_thread(subprocess.Popen, command, cwd=ROOT, stdout=subprocess.PIPE)
        assert other.stdout is not None
        try:
            assert await asyncio.to_thread(other.stdout.readline) == b"taken\n"
            waiting = asyncio.create_task(here.upload("refunds.md", OLD))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            other.kill()
            async with asyncio.timeout(20):
                await waiting
        finally:
            other.kill()
            other.wait()
            other.stdout.close()
        await stand_alone(here, "refunds.md")


async def test_goes_on_after_the_database_was_restarted(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.adapters.postgres_database.TIMEOUT_S", 1)
    with postgres(needed_binaries()) as server:
        async with Place(server.url, store_path).process("one") as here:
            await here.upload("refunds.md", OLD)
            server.stop()
            with pytest.raises(DependencyError):
                await here.found("refunds")
            with pytest.raises(DependencyError):
                await here.upload("refunds.md", NEW)
            await asyncio.to_thread(server.start)
            for _ in range(20):  # a busy machine may need more than the second
                with contextlib.suppress(DependencyError):
                    await here.upload("refunds.md", NEW)
                    break
            await stand_alone(here, "refunds.md")


async def test_another_embedder_is_refused_at_start_and_when_it_comes(place: Place) -> None:
    async with place.process("one") as here:
        await here.upload("refunds.md", OLD)
        with pytest.raises(EmbedderMismatch):
            async with place.process("two", HashingEmbedder(fingerprint="another")):
                pytest.fail("it opened")
        here.records.set_encoders(LOCAL.tenant, BASE, "another", Bm25Encoder().fingerprint)
        with pytest.raises(EmbedderMismatch):
            await here.found("refunds")


async def test_a_database_without_a_qdrant_server_is_refused(tmp_path: Path) -> None:
    settings = IndexSettings(
        data_dir=tmp_path / "crag",
        database=DatabaseSettings.model_validate({"url": "postgresql:///x"}),
    )
    with pytest.raises(ConfigurationError, match="set CRAG_QDRANT__URL"):
        async with open_index(settings):
            pytest.fail("it opened")
    assert not settings.data_dir.exists()


def test_a_folder_of_its_own_is_not_in_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_DATABASE__URL", "postgresql:///x")
    assert read(IndexSettings).database.url is not None
    assert read(IndexSettings, **own_folder(tmp_path)).database.url is None


def test_a_base_moves_from_the_folder_into_the_database(
    postgres_server: Postgres, store_path: Path, qdrant: QdrantSettings
) -> None:
    files = IndexSettings(data_dir=store_path / "crag", qdrant=qdrant)
    url = postgres_server.new_database()
    shared = files.model_copy(update={"database": DatabaseSettings.model_validate({"url": url})})

    async def fill() -> None:
        async with open_index(files) as corpus:
            await corpus.writer.create_knowledge_base(LOCAL, BASE)

    async def bases() -> list[str]:
        async with open_index(shared) as corpus:
            return [base.name for base in await corpus.bases.bases(LOCAL)]

    asyncio.run(fill())
    report = copy_here(
        files,
        BASE,
        tenant=LOCAL.tenant,
        data_dir=None,
        url="http://qdrant.test:6333",
        database=url,
        new_name="moved",
        replace_target=False,
        on_document=lambda done, of: None,
    )
    assert report.knowledge_base == "moved"
    assert asyncio.run(bases()) == ["moved"]
