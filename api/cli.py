"""The commands `crag serve` and `crag doctor`. Imports wait until a command runs."""

from typing import Annotated, Any

import typer


def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="The address to serve; CRAG_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="0 takes a free one; CRAG_PORT.")
    ] = None,
) -> None:
    """Serve the HTTP interface until it is interrupted."""
    from api.serve import serve as serve_http
    from ingest.settings import read

    given: dict[str, Any] = {"host": host, "port": port}
    serve_http(read(context.obj, **{k: v for k, v in given.items() if v is not None}))


def doctor(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say what is configured, what is missing, and what the machine can do.

    Exits 1 when something is missing that the service needs.
    """
    from api.doctor import examine, report_lines
    from ingest.settings import read
    from ingest.terminal import say, say_json

    report = examine(read(context.obj))
    if as_json:
        say_json(report)
    else:
        say("\n".join(report_lines(report)))
    raise typer.Exit(1 if report["problems"] else 0)
