"""The command `crag audit list`. Imports wait until it runs."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from api.audit import AuditRow

COLUMNS = ("AT", "TENANT", "WHO", "ACTION", "BASE", "TARGET", "OUTCOME", "QUESTION")
"""Of `crag audit list`."""

audit = typer.Typer(help="The audit trail: who asked, changed or deleted what, and when.")


@audit.callback()
def audit_commands() -> None:
    """Without this a single command would take the place of the group."""


@audit.command("list")
def list_rows(
    context: typer.Context,
    tenant: Annotated[str | None, typer.Option(help="Only of this tenant.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Rows, newest first.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List what was asked, changed and deleted, newest first; also while a server runs."""
    from api.audit import as_json as row_as_json
    from api.audit import open_audit
    from ingest.settings import read
    from ingest.terminal import say, say_json, table

    log = open_audit(read(context.obj))
    try:
        rows = log.recent(tenant=tenant, limit=limit)
    finally:
        log.close()
    if as_json:
        say_json({"rows": [row_as_json(row) for row in rows]})
        return
    if not rows:
        say("nothing yet", sys.stderr)
        return
    say("\n".join(table(COLUMNS, [_columns(row) for row in rows])))


def _columns(row: "AuditRow") -> list[str]:
    """Nothing is left empty, as in the list of keys."""
    shown = [row.at, row.tenant, row.who, row.action, row.knowledge_base, row.target]
    return [column or "-" for column in (*shown, row.outcome, row.question)]
