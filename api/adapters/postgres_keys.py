"""API keys in PostgreSQL, which several API processes share."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from api.adapters.key_rows import ADDED, COLUMNS, INTO, NAMES, SCHEMA, key_of, row_of
from api.keys import Key
from ingest.errors import ConfigurationError, DependencyError

if TYPE_CHECKING:
    from psycopg import Connection

TIMEOUT_S = 5
"""Seconds to connect, to wait for a free connection, and of one statement."""
CONNECTIONS = 4

SET_UP = "SELECT pg_advisory_xact_lock(hashtextextended('crag: set up the table of keys', 0))"
"""Two processes that make a table at once can fail in spite of IF NOT EXISTS."""


class PostgresKeys:
    """Connects when it is first asked; a database that is away then is asked again later."""

    def __init__(self, url: str) -> None:
        try:
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise ConfigurationError(
                f"CRAG_DATABASE__URL needs the extra `postgres`: pip install -e '.[postgres]' "
                f"({error})"
            ) from error
        options = f"-c statement_timeout={TIMEOUT_S}s"
        self._pool = ConnectionPool(
            url,
            kwargs={"connect_timeout": TIMEOUT_S, "prepare_threshold": None, "options": options},
            min_size=0,
            max_size=CONNECTIONS,
            timeout=TIMEOUT_S,
            check=ConnectionPool.check_connection,
            open=False,
        )
        self._ready = False

    def add(self, key: Key, digest: str, *, instead_of: Key | None = None) -> None:
        with self._transaction() as db:
            marks = ", ".join(["%s"] * (len(NAMES) + 1))
            db.execute(_sql(f"{INTO} ({marks})"), [*row_of(key), digest])
            if instead_of is not None:
                _change(db, instead_of)

    def find(self, key_id: str) -> tuple[Key, str] | None:
        with self._transaction() as db:
            row = db.execute(
                _sql(f"SELECT digest, {COLUMNS} FROM api_keys WHERE key_id = %s"), (key_id,)
            ).fetchone()
        return (key_of(row[1:]), str(row[0])) if row else None

    def listed(self, tenant: str | None = None) -> list[Key]:
        with self._transaction() as db:
            rows = db.execute(
                _sql(
                    f"SELECT {COLUMNS} FROM api_keys WHERE tenant = COALESCE(%s, tenant) "
                    'ORDER BY created_at COLLATE "C", key_id COLLATE "C"'
                ),
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
        self._pool.close()

    @contextmanager
    def _transaction(self) -> Iterator["Connection[Any]"]:
        import psycopg
        from psycopg_pool import PoolTimeout

        try:
            self._pool.open()
            with self._pool.connection() as db:
                if not self._ready:
                    db.execute(SET_UP)
                    db.execute(_sql(SCHEMA))
                    db.execute(_sql(ADDED.format(new="IF NOT EXISTS ")))
                yield db
            self._ready = True
        except (psycopg.Error, PoolTimeout, OSError) as error:
            raise DependencyError(f"the database of API keys: {error}") from error


def _change(db: "Connection[Any]", key: Key) -> None:
    db.execute(
        "UPDATE api_keys SET expires_at = %s, revoked_at = %s, replaced_by = %s, limits = %s "
        "WHERE key_id = %s",
        (key.expires_at, key.revoked_at, key.replaced_by, json.dumps(key.limits), key.key_id),
    )


def _sql(text: str) -> bytes:
    """psycopg takes a `str` only where it is written out in the source."""
    return text.encode()
