"""The audit trail in a SQLite file of its own: commands write to it while a server does."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from datetime import UTC, datetime, timedelta
from pathlib import Path

from api.audit import COLUMNS, AuditRow
from ingest.errors import DependencyError

BUSY_S = 5.0
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS audit ({", ".join(f"{name} TEXT NOT NULL" for name in COLUMNS)});
CREATE INDEX IF NOT EXISTS audit_by_time ON audit (at);
"""


class SqliteAudit:
    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(
                path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA secure_delete = ON")
            self._db.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise DependencyError(f"the audit trail {path}: {error}") from error

    def add(self, row: AuditRow) -> None:
        marks = ", ".join("?" * len(COLUMNS))
        with self._open() as db:
            db.execute(f"INSERT INTO audit VALUES ({marks})", astuple(row))

    def recent(self, *, tenant: str | None = None, limit: int = 50) -> list[AuditRow]:
        with self._open() as db:
            rows = db.execute(
                f"SELECT {', '.join(COLUMNS)} FROM audit WHERE tenant = COALESCE(?, tenant) "
                "ORDER BY at DESC, rowid DESC LIMIT ?",
                (tenant, limit),
            ).fetchall()
        return [AuditRow(*row) for row in rows]

    def sweep(self, ttl_days: float) -> int:
        before = datetime.now(UTC) - timedelta(days=ttl_days)
        with self._open() as db:
            return db.execute(
                "DELETE FROM audit WHERE at < ?", (before.isoformat(timespec="milliseconds"),)
            ).rowcount

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._db
            except sqlite3.Error as error:
                raise DependencyError(f"the audit trail: {error}") from error
