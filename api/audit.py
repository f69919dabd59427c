"""The audit trail: who asked, changed or deleted what, when, and how it ended."""

from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Protocol

from starlette.requests import Request

from api.request_id import request_id
from api.settings import Settings
from ingest.data_folder import DataFolder
from ingest.database import open_database
from ingest.errors import DataFolderHeld, DependencyError

SEEN = "crag.audit"
"""Where a request has what is known of it for its row."""
MAX_TEXT = 2_000


@dataclass(frozen=True)
class AuditRow:
    """`who` is a key by its id, a user, or the operator; `target` the ids of what was touched.

    `at` is ISO 8601 in UTC; `outcome` that of a run or an upload, the code of a problem, or `ok`.
    """

    at: str
    request_id: str
    tenant: str
    who: str
    action: str
    knowledge_base: str = ""
    target: str = ""
    outcome: str = "ok"
    question: str = ""


COLUMNS = [field.name for field in fields(AuditRow)]


class AuditLog(Protocol):
    """Rows by the time of their end. Calls block for some milliseconds; raises DependencyError."""

    def add(self, row: AuditRow) -> None: ...

    def recent(self, *, tenant: str | None = None, limit: int = 50) -> list[AuditRow]:
        """Newest first; of a tenant, or of all."""

    def sweep(self, ttl_days: float) -> int:
        """Deletes what is longer ago; returns the number of rows."""

    def close(self) -> None: ...


def open_audit(settings: Settings, *, make: bool = True) -> AuditLog:
    """In the database that the settings name, else in the data folder, which is made if need be;
    other processes may write to it meanwhile.

    Without `make` it raises DependencyError for a folder that is not one yet: a file in it would
    keep it from becoming one.
    """
    from api.adapters.sql_audit import AUDIT, SqlAudit

    if settings.database.url is None and not (settings.data_dir / "format").exists():
        if not make:
            raise DependencyError("the data folder is not open yet")
        with suppress(DataFolderHeld):
            DataFolder(settings.data_dir).close()
    return SqlAudit(open_database(settings.database, settings.data_dir, AUDIT))


def note(request: Request, **known: str) -> None:
    """Says something of a request for its row."""
    request.scope.get(SEEN, {}).update(known)


def audit_row(action: str, tenant: str, who: str, **more: str) -> AuditRow:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    short = {name: text[:MAX_TEXT] for name, text in more.items()}
    return AuditRow(at, request_id.get(), tenant, who, action, **short)


def as_json(row: AuditRow) -> dict[str, Any]:
    return asdict(row)
