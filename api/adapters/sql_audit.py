"""The audit trail in a database: a SQLite file of its own, which commands write to while a server
does, or PostgreSQL."""

from dataclasses import astuple
from datetime import UTC, datetime, timedelta

from api.audit import COLUMNS, AuditRow
from ingest.database import Database, Tables

NAMES = ", ".join(COLUMNS)

AUDIT = Tables(
    "the audit trail",
    "audit.sqlite",
    f"""
CREATE TABLE IF NOT EXISTS audit (
  rowid INTEGER PRIMARY KEY, {", ".join(f"{name} TEXT NOT NULL" for name in COLUMNS)});
CREATE INDEX IF NOT EXISTS audit_by_time ON audit (at);
""",
    pragmas=("journal_mode = WAL", "secure_delete = ON"),
)


class SqlAudit:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, row: AuditRow) -> None:
        marks = ", ".join("?" * len(COLUMNS))
        with self._database.transaction() as db:
            db.execute(f"INSERT INTO audit ({NAMES}) VALUES ({marks})", astuple(row))

    def recent(self, *, tenant: str | None = None, limit: int = 50) -> list[AuditRow]:
        with self._database.transaction() as db:
            rows = db.execute(
                f"SELECT {NAMES} FROM audit WHERE tenant = COALESCE(?, tenant) "
                "ORDER BY at DESC, rowid DESC LIMIT ?",
                (tenant, limit),
            ).fetchall()
        return [AuditRow(*row) for row in rows]

    def sweep(self, ttl_days: float) -> int:
        before = datetime.now(UTC) - timedelta(days=ttl_days)
        with self._database.transaction() as db:
            return db.execute(
                "DELETE FROM audit WHERE at < ?", (before.isoformat(timespec="milliseconds"),)
            ).rowcount

    def close(self) -> None:
        self._database.close()
