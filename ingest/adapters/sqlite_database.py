"""Records in a SQLite file: the default, for the one process that holds the data folder."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.data_folder import check_space
from ingest.database import Tables
from ingest.errors import ConfigurationError, DependencyError

BUSY_S = 5.0
"""Seconds to wait for another process: commands write keys and audit rows while a server does."""

MEMORY = ":memory:"


class SqliteDatabase:
    """One connection, one transaction at a time; the file is its owner's alone."""

    def __init__(self, path: Path | str, tables: Tables) -> None:
        self._what = tables.what
        self._path = path
        self._lock = threading.Lock()
        try:
            if path != MEMORY:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(
                path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
            )
            for pragma in tables.pragmas:
                self._db.execute(f"PRAGMA {pragma}")
            self._db.executescript(tables.schema)
            for table, column in tables.added:
                self._add(table, column)
        except (OSError, sqlite3.Error) as error:
            hint = f"; {tables.hint}" if tables.hint else ""
            raise ConfigurationError(f"{tables.what} {path}: {error}{hint}") from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                with self._db:
                    self._db.execute("BEGIN")
                    yield self._db
            except sqlite3.Error as error:
                raise DependencyError(f"{self._what}: {error}") from error

    def take(self, name: str) -> bool:
        """The lock of the data folder keeps other processes out."""
        return True

    def let_go(self, name: str) -> None:
        """Nothing was taken."""

    def check_space(self) -> None:
        check_space(Path(self._path).parent)

    def reclaim(self) -> None:
        with self._lock:  # each row of the answer is a page that was freed
            self._db.execute("PRAGMA incremental_vacuum").fetchall()

    def is_subset(self, column: str) -> str:
        allowed = "SELECT value FROM json_each(?)"
        return (
            f"NOT EXISTS (SELECT 1 FROM json_each({column}) WHERE json_each.value NOT IN "
            f"({allowed}))"
        )

    def list_length(self, column: str, key: str) -> str:
        return f"json_array_length({column}, '$.{key}')"

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _add(self, table: str, column: str) -> None:
        there = self._db.execute(f"PRAGMA table_info({table})")
        if not any(row[1] == column.split()[0].strip('"') for row in there):
            self._db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
