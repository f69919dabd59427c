"""Conversation threads in PostgreSQL, which several API processes share."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from graph.adapters.checkpoints import plain_serializer
from graph.threads import ThreadBusy
from ingest.errors import ConfigurationError, DependencyError

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

    Pool = AsyncConnectionPool[AsyncConnection[dict[str, Any]]]

T = TypeVar("T")

TIMEOUT_S = 10
"""Seconds to connect, and to wait for a free connection."""

CONNECTIONS = 8
"""Of the pool that reads and writes threads; each is in use for some milliseconds of a run."""

SETUP = "crag: set up the tables of threads"

EXPIRED = """
SELECT thread_id FROM checkpoints WHERE thread_id = COALESCE(%s, thread_id)
GROUP BY thread_id HAVING MAX(checkpoint_id COLLATE "C") < %s
"""


@asynccontextmanager
async def postgres_threads(url: str) -> AsyncIterator["PostgresThreads"]:
    """Makes its tables where they are missing.

    Raises ConfigurationError where the driver is missing or the database cannot be reached.
    """
    try:
        import psycopg
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise ConfigurationError(
            f"CRAG_DATABASE__URL needs the extra `postgres`: pip install -e '.[postgres]' ({error})"
        ) from error
    options: dict[str, Any] = {"autocommit": True, "connect_timeout": TIMEOUT_S}
    locks = AdvisoryLocks(url, options)
    pool: Pool = AsyncConnectionPool(
        url,
        kwargs=options | {"prepare_threshold": 0, "row_factory": dict_row},
        min_size=1,
        max_size=CONNECTIONS,
        timeout=TIMEOUT_S,
        check=AsyncConnectionPool.check_connection,
        open=False,
    )
    try:
        try:
            # Not the pool first: it would try again until its timeout, and not say why.
            await locks.connect()
            await pool.open()
            saver = AsyncPostgresSaver(pool, serde=plain_serializer())
            async with locks.waiting(SETUP):
                await saver.setup()
        except (psycopg.Error, OSError) as error:
            raise ConfigurationError(f"CRAG_DATABASE__URL: {error}") from error
        yield PostgresThreads(saver, pool, locks)
    finally:
        await pool.close()
        await locks.close()


class PostgresThreads:
    def __init__(
        self, checkpointer: "AsyncPostgresSaver", pool: "Pool", locks: "AdvisoryLocks"
    ) -> None:
        self.checkpointer = checkpointer
        self._pool = pool
        self._locks = locks
        self._mine: set[str] = set()

    async def expired(self, before: str, only: str | None = None) -> list[str]:
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(EXPIRED, (only, before))).fetchall()
        return [row["thread_id"] for row in rows]

    @asynccontextmanager
    async def alone(self, thread: str) -> AsyncIterator[None]:
        """Raises ThreadBusy, and DependencyError where the database cannot be reached."""
        # A session gets its own advisory lock again, so this process asks itself first.
        if thread in self._mine:
            raise _busy()
        self._mine.add(thread)
        try:
            try:
                if not await _to_its_end(self._locks.take(thread)):
                    raise _busy()
                yield
            finally:
                await _to_its_end(self._locks.release(thread))
        finally:
            self._mine.discard(thread)


class AdvisoryLocks:
    """Locks by name that end with this process's one connection for them, so never outlive it.

    Where that connection breaks, the server lets go of its locks while their runs go on: until
    those end, a second run on the same thread is possible, and the later one to end is kept. A
    connection pooler between must keep sessions (PgBouncer: session mode).
    """

    def __init__(self, url: str, options: dict[str, Any]) -> None:
        self._url = url
        self._options = options
        self._connection: AsyncConnection[Any] | None = None
        self._connecting = asyncio.Lock()

    async def connect(self) -> "AsyncConnection[Any]":
        """The open connection, a new one where the last one broke. Raises psycopg.Error."""
        import psycopg

        async with self._connecting:
            if self._connection is None or self._connection.closed:
                self._connection = await psycopg.AsyncConnection.connect(self._url, **self._options)
            return self._connection

    async def take(self, name: str) -> bool:
        """False where another session has it. Raises DependencyError."""
        import psycopg

        for attempt in (1, 2):  # a connection that broke while idle tells it at its first use
            try:
                return await self._ask("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", name)
            except psycopg.Error as error:
                if attempt == 2:
                    raise DependencyError(f"the database of conversations: {error}") from error
        raise AssertionError("unreachable")

    async def release(self, name: str) -> None:
        """What this session does not hold stays as it is; a broken session holds nothing."""
        import psycopg

        if self._connection is None or self._connection.closed:
            return
        try:
            await self._ask("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", name)
        except psycopg.Error:
            await self._connection.close()

    @asynccontextmanager
    async def waiting(self, name: str) -> AsyncIterator[None]:
        # Not pg_advisory_lock: a session that waits in it holds a snapshot, and the other's
        # CREATE INDEX CONCURRENTLY would wait for that for ever.
        while not await self.take(name):  # noqa: ASYNC110 - another process sets no event here
            await asyncio.sleep(0.1)
        try:
            yield
        finally:
            await self.release(name)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def _ask(self, query: Any, name: str) -> bool:
        connection = await self.connect()
        row = await (await connection.execute(query, (name,))).fetchone()
        return bool(row and row[0])


def _busy() -> ThreadBusy:
    return ThreadBusy("this thread has a run that has not ended; wait for it or cancel it")


async def _to_its_end(work: Awaitable[T]) -> T:
    """A caller that is cancelled waits: a lock that is half taken would stay for ever."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
