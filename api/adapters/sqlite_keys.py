"""API keys in a SQLite file of their own: `crag keys` writes it while a server reads it."""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.adapters.key_rows import ADDED, COLUMNS, INTO, NAMES, SCHEMA, key_of, row_of
from api.keys import Key
from ingest.errors import ConfigurationError, DependencyError

BUSY_S = 5.0
"""Seconds to wait for another process that writes a key."""


class SqliteKeys:
    """Not in the file of the documents, which one process alone may write."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(
                path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute(SCHEMA)
            if not any(
                row[1] == "limits" for row in self._db.execute("PRAGMA table_info(api_keys)")
            ):
                self._db.execute(ADDED.format(new=""))
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"the API keys {path}: {error}") from error

    def add(self, key: Key, digest: str, *, instead_of: Key | None = None) -> None:
        with self._transaction() as db:
            marks = ", ".join("?" * (len(NAMES) + 1))
            db.execute(f"{INTO} ({marks})", [*row_of(key), digest])
            if instead_of is not None:
                _change(db, instead_of)

    def find(self, key_id: str) -> tuple[Key, str] | None:
        with self._transaction() as db:
            row = db.execute(
                f"SELECT digest, {COLUMNS} FROM api_keys WHERE key_id = ?", (key_id,)
            ).fetchone()
        return (key_of(row[1:]), str(row[0])) if row else None

    def listed(self, tenant: str | None = None) -> list[Key]:
        with self._transaction() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM api_keys WHERE tenant = COALESCE(?, tenant) "
                "ORDER BY created_at, key_id",
                (tenant,),
            ).fetchall()
        return [key_of(row) for row in rows]

    def change(self, key: Key) -> None:
        with self._transaction() as db:
            _change(db, key)

    def any(self) -> bool:
        with self._transaction() as db:
            return db.execute("SELECT 1 FROM api_keys LIMIT 1").fetchone() is not None

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                with self._db:
                    self._db.execute("BEGIN")
                    yield self._db
            except sqlite3.Error as error:
                raise DependencyError(f"the API keys failed: {error}") from error


def _change(db: sqlite3.Connection, key: Key) -> None:
    db.execute(
        "UPDATE api_keys SET expires_at = ?, revoked_at = ?, replaced_by = ?, limits = ? "
        "WHERE key_id = ?",
        (key.expires_at, key.revoked_at, key.replaced_by, json.dumps(key.limits), key.key_id),
    )
