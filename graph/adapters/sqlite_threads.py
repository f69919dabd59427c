"""Conversation threads in a SQLite file: the default, for the one process that holds the folder."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from graph.adapters.checkpoints import plain_serializer
from ingest.errors import ConfigurationError

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

EXPIRED = """
SELECT thread_id FROM checkpoints WHERE thread_id = COALESCE(?, thread_id)
GROUP BY thread_id HAVING MAX(checkpoint_id) < ?
"""


@asynccontextmanager
async def sqlite_threads(path: Path) -> AsyncIterator["SqliteThreads"]:
    """Raises ConfigurationError for a file that cannot be read."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    await asyncio.to_thread(check_readable, path)
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        saver.serde = plain_serializer()
        await saver.setup()
        yield SqliteThreads(saver)


def check_readable(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as threads:
            threads.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        raise ConfigurationError(
            f"the conversations {path}: {error}; move the file away to begin anew"
        ) from error


class SqliteThreads:
    """Knows of no other process: the lock of the data folder keeps them out."""

    def __init__(self, checkpointer: "AsyncSqliteSaver") -> None:
        self.checkpointer = checkpointer

    async def expired(self, before: str, only: str | None = None) -> list[str]:
        async with (
            self.checkpointer.lock,
            self.checkpointer.conn.execute(EXPIRED, (only, before)) as rows,
        ):
            return [thread async for (thread,) in rows]

    def alone(self, thread: str) -> AbstractAsyncContextManager[None]:
        """The service lets one run on a thread itself."""
        return nullcontext()
