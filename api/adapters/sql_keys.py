"""API keys in a database: a SQLite file of their own, which `crag keys` writes while a server reads
it, or PostgreSQL."""

import json

from api.adapters.key_rows import COLUMNS, INTO, key_of, row_of
from api.keys import Key
from ingest.database import Database, Transaction


class SqlKeys:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: Key, digest: str, *, instead_of: Key | None = None) -> None:
        with self._database.transaction() as db:
            db.execute(INTO, [*row_of(key), digest])
            if instead_of is not None:
                _change(db, instead_of)

    def find(self, key_id: str) -> tuple[Key, str] | None:
        with self._database.transaction() as db:
            row = db.execute(
                f"SELECT digest, {COLUMNS} FROM api_keys WHERE key_id = ?", (key_id,)
            ).fetchone()
        return (key_of(row[1:]), str(row[0])) if row else None

    def listed(self, tenant: str | None = None) -> list[Key]:
        with self._database.transaction() as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM api_keys WHERE tenant = COALESCE(?, tenant) "
                "ORDER BY created_at, key_id",
                (tenant,),
            ).fetchall()
        return [key_of(row) for row in rows]

    def change(self, key: Key) -> None:
        with self._database.transaction() as db:
            _change(db, key)

    def any(self) -> bool:
        with self._database.transaction() as db:
            return db.execute("SELECT 1 FROM api_keys LIMIT 1").fetchone() is not None

    def close(self) -> None:
        self._database.close()


def _change(db: Transaction, key: Key) -> None:
    db.execute(
        "UPDATE api_keys SET expires_at = ?, revoked_at = ?, replaced_by = ?, limits = ? "
        "WHERE key_id = ?",
        (key.expires_at, key.revoked_at, key.replaced_by, json.dumps(key.limits), key.key_id),
    )
