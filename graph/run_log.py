"""Finished runs in a database, newest first, with a bounded number kept."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from graph.answer import Answer
from graph.settings import GraphSettings
from ingest.database import Database, Tables, open_database
from ingest.errors import NotFound
from ingest.scope import Scope
from nodes.masking import masked_json

T = TypeVar("T")

RUNS = Tables(
    "the log of runs",
    "runs.sqlite",
    """
CREATE TABLE IF NOT EXISTS runs (
  rowid INTEGER PRIMARY KEY, run_id TEXT UNIQUE, tenant TEXT, knowledge_base TEXT, created_at TEXT,
  outcome TEXT, reason TEXT, question TEXT, total_ms REAL, answer TEXT,
  principals TEXT DEFAULT '[]');
CREATE INDEX IF NOT EXISTS runs_by_tenant ON runs (tenant, created_at);
""",
    added=(("runs", "principals TEXT DEFAULT '[]'"),),
    pragmas=("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"),
    hint="move the file away to begin a new one",
    statement_s=60,  # reading through all of a base
)
KEPT = 10_000
"""Runs kept; the oldest go first."""


class RunLog:
    """Kept masked where `mask` says so: what was asked and answered, without secrets."""

    def __init__(self, database: Database, *, mask: bool = True) -> None:
        self._mask = mask
        self._database = database
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="run-log")
        # As Scope.covers: a run is seen by who may see all that it has seen.
        self._seen_by = f"tenant = ? AND {database.is_subset('principals')}"

    async def add(self, scope: Scope, knowledge_base: str, answer: Answer) -> None:
        await self._run(lambda: self._add(scope, knowledge_base, answer))

    async def recent(self, scope: Scope, *, limit: int = 50) -> list[dict[str, Any]]:
        """One line for each run, newest first."""
        return await self._run(lambda: self._list(scope, limit))

    async def bad(self, scope: Scope, knowledge_base: str) -> list[dict[str, Any]]:
        """Question, outcome and whether it was degraded, of each run of the base that was refused,
        answered in part or degraded; newest first."""
        return await self._run(lambda: self._bad(scope, knowledge_base))

    async def get(self, scope: Scope, run_id: str) -> dict[str, Any]:
        """The whole answer object. Raises NotFound."""
        return await self._run(lambda: self._get(scope, run_id))

    async def sweep(self, ttl_days: float) -> int:
        """Deletes the runs that are longer ago, of a file as well; returns their number."""
        return await self._run(lambda: self._sweep(ttl_days))

    def close(self) -> None:
        self._pool.shutdown()
        self._database.close()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _add(self, scope: Scope, base: str, answer: Answer) -> None:
        created = datetime.now(UTC).isoformat(timespec="milliseconds")
        kept = masked_json(answer.as_json()) if self._mask else answer.as_json()
        total = answer.timings["total_ms"]
        values = (answer.run_id, scope.tenant, base, created, answer.outcome, answer.reason)
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO runs (run_id, tenant, knowledge_base, created_at, outcome, reason, "
                "question, total_ms, answer, principals) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*values, kept["question"], total, json.dumps(kept), json.dumps(scope.principals)),
            )
            db.execute("DELETE FROM runs WHERE rowid <= (SELECT max(rowid) FROM runs) - ?", (KEPT,))

    def _sweep(self, ttl_days: float) -> int:
        before = datetime.now(UTC) - timedelta(days=ttl_days)
        with self._database.transaction() as db:
            return db.execute(
                "DELETE FROM runs WHERE created_at < ?",
                (before.isoformat(timespec="milliseconds"),),
            ).rowcount

    def _list(self, scope: Scope, limit: int) -> list[dict[str, Any]]:
        names = ("run_id", "knowledge_base", "created_at", "outcome", "reason", "question")
        with self._database.transaction() as db:
            rows = db.execute(
                f"SELECT {', '.join(names)}, total_ms FROM runs WHERE {self._seen_by} "
                "ORDER BY created_at DESC LIMIT ?",
                (*_seer(scope), limit),
            ).fetchall()
        return [dict(zip((*names, "total_ms"), row, strict=True)) for row in rows]

    def _bad(self, scope: Scope, base: str) -> list[dict[str, Any]]:
        degraded = self._database.list_length("answer", "degraded")
        with self._database.transaction() as db:
            rows = db.execute(
                "SELECT question, outcome, degraded FROM (SELECT question, outcome, created_at, "
                f"{degraded} > 0 AS degraded FROM runs "
                f"WHERE {self._seen_by} AND knowledge_base = ?) AS found "
                "WHERE outcome IN ('refused', 'answered_partially') OR degraded "
                "ORDER BY created_at DESC",
                (*_seer(scope), base),
            ).fetchall()
        return [{"question": q, "outcome": o, "degraded": bool(d)} for q, o, d in rows]

    def _get(self, scope: Scope, run_id: str) -> dict[str, Any]:
        with self._database.transaction() as db:
            row = db.execute(
                f"SELECT answer FROM runs WHERE {self._seen_by} AND run_id = ?",
                (*_seer(scope), run_id),
            ).fetchone()
        if row is None:
            raise NotFound("no such run")
        return dict(json.loads(row[0]))


def _seer(scope: Scope) -> tuple[str, str]:
    return scope.tenant, json.dumps(scope.principals)


def open_runs(settings: GraphSettings, folder: Path) -> RunLog:
    """In the database that the settings name, else in the folder. Raises ConfigurationError."""
    return RunLog(open_database(settings.database, folder, RUNS), mask=settings.privacy.mask)
