"""Records in PostgreSQL, which several processes share."""

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ingest.data_folder import FORMAT
from ingest.database import Tables
from ingest.errors import ConfigurationError, DependencyError, UnknownDataFormat

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

TIMEOUT_S = 5
"""Seconds to connect, and to wait for a free connection."""

CONNECTIONS = 4
"""At most, of one store; they are made when they are needed."""

TYPES = (
    (r"\bINTEGER PRIMARY KEY\b", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    (r"\bINTEGER\b", "BIGINT"),
    (r"\bREAL\b", "DOUBLE PRECISION"),
    (r"\bBLOB\b", "BYTEA"),
    (r"\bTEXT\b", 'TEXT COLLATE "C"'),
)
"""What SQLite's types are here; text is ordered by code points, as there."""

SET_UP = "SELECT pg_advisory_xact_lock(hashtextextended('crag: set up the tables', 0))"
"""Two processes that make a table at once can fail in spite of IF NOT EXISTS."""

DEAD_AFTER = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4"
"""The server lets go of what a process has taken as soon as it ends, and 30 s after its machine
is gone."""


class PostgresDatabase:
    """Connects when it is first asked; a database that is away then is asked again later."""

    def __init__(self, url: str, tables: Tables) -> None:
        try:
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise ConfigurationError(
                f"CRAG_DATABASE__URL needs the extra `postgres`: pip install -e '.[postgres]' "
                f"({error})"
            ) from error
        options = f"-c statement_timeout={tables.statement_s}s"
        self._pool = ConnectionPool(
            url,
            kwargs={"connect_timeout": TIMEOUT_S, "prepare_threshold": None, "options": options},
            min_size=0,
            max_size=CONNECTIONS,
            num_workers=1,
            timeout=TIMEOUT_S,
            check=ConnectionPool.check_connection,
            open=False,
        )
        self._url = url
        self._tables = tables
        self._ready = False
        self._taking = threading.Lock()
        self._takes: Connection[Any] | None = None

    @contextmanager
    def transaction(self) -> Iterator["PostgresTransaction"]:
        import psycopg
        from psycopg_pool import PoolTimeout

        try:
            self._pool.open()
            with self._pool.connection() as connection:
                db = PostgresTransaction(connection)
                if not self._ready:
                    self._set_up(db)
                yield db
            self._ready = True
        except (psycopg.Error, PoolTimeout, OSError) as error:
            raise DependencyError(f"{self._tables.what}: {error}") from error

    def take(self, name: str) -> bool:
        with self._taking:
            for _ in range(2):  # a connection that broke while idle tells it at its first use
                try:
                    return self._asked("SELECT pg_try_advisory_lock(hashtextextended(?, 0))", name)
                except DependencyError as error:
                    failed = error
            raise failed

    def let_go(self, name: str) -> None:
        with self._taking, suppress(DependencyError):  # whose connection is closed by then
            if self._takes is not None and not self._takes.closed:
                self._asked("SELECT pg_advisory_unlock(hashtextextended(?, 0))", name)

    def check_space(self) -> None:
        """The server's own business."""

    def reclaim(self) -> None:
        """The server's own business."""

    def is_subset(self, column: str) -> str:
        return f"{column}::jsonb <@ ?::jsonb"

    def list_length(self, column: str, key: str) -> str:
        return f"json_array_length({column}::json -> '{key}')"

    def close(self) -> None:
        self._pool.close()
        with self._taking:
            if self._takes is not None:
                self._takes.close()

    def _asked(self, sql: str, name: str) -> bool:
        """On the one connection whose end lets go of all that was taken."""
        import psycopg

        try:
            if self._takes is None or self._takes.closed:
                self._takes = psycopg.connect(
                    self._url, autocommit=True, connect_timeout=TIMEOUT_S, options=DEAD_AFTER
                )
            row = PostgresTransaction(self._takes).execute(sql, [name]).fetchone()
        except (psycopg.Error, OSError) as error:
            if self._takes is not None:
                self._takes.close()
            raise DependencyError(f"{self._tables.what}: {error}") from error
        return bool(row and row[0])

    def _set_up(self, db: "PostgresTransaction") -> None:
        db.execute(SET_UP)
        db.execute("CREATE TABLE IF NOT EXISTS crag_format (format BIGINT NOT NULL)")
        found = db.execute("SELECT format FROM crag_format").fetchone()
        if found is None:
            db.execute("INSERT INTO crag_format VALUES (?)", [FORMAT])
        elif found[0] != FORMAT:
            raise UnknownDataFormat(
                f"the database of CRAG_DATABASE__URL has data format {found[0]}, this version "
                f"reads {FORMAT}; use the version that wrote it, or another database"
            )
        db.execute(_typed(self._tables.schema))
        for table, column in self._tables.added:
            db.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {_typed(column)}")


class PostgresTransaction:
    """A text holds no NUL here: it is kept, and looked for, as U+FFFD."""

    def __init__(self, connection: "Connection[Any]") -> None:
        self._connection = connection

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> "Cursor[Any]":
        return self._connection.execute(_marked(sql), _plain(values) or None)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(sql), map(_plain, rows))


def check_database(url: str) -> str:
    """Empty where one can connect, else why not."""
    try:
        import psycopg
    except ImportError as error:
        return f"the extra `postgres` is not installed ({error})"
    try:
        psycopg.connect(url, connect_timeout=TIMEOUT_S).close()
    except psycopg.Error as error:
        return " ".join(str(error).split())
    return ""


def _marked(sql: str) -> bytes:
    """psycopg takes a `str` only where it is written out in the source."""
    return sql.replace("?", "%s").encode()


def _plain(values: Sequence[Any]) -> list[Any]:
    return [v.replace("\x00", "\ufffd") if isinstance(v, str) else v for v in values]


def _typed(sql: str) -> str:
    for found, instead in TYPES:
        sql = re.sub(found, instead, sql)
    return sql
