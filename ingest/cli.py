"""The commands `crag ingest` and `crag kb`. Imports wait until a command runs."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Base = Annotated[str, typer.Option("--kb", help="The knowledge base.")]

kb = typer.Typer(help="Knowledge bases: the sets of documents that questions are asked of.")


def ingest(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="A file or a folder.")],
    knowledge_base: Base,
    delete_missing: Annotated[
        bool, typer.Option(help="Delete documents whose file is gone from the folder.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring a knowledge base in line with a folder.

    Exits 0 when all files were read, 3 when some failed, 1 when none could be read.
    """
    import time
    from dataclasses import asdict

    from ingest.local import ingest_here
    from ingest.progress import STATES, shown_progress, summary_line
    from ingest.remote import server_for
    from ingest.remote_ingest import ingest_through
    from ingest.settings import read

    settings = read(context.obj)
    started = time.monotonic()
    with shown_progress() as on_result:
        client = server_for(settings.data_dir)
        if client is None:
            report, created = ingest_here(settings, path, knowledge_base, delete_missing, on_result)
        else:
            with client:
                report, created = ingest_through(
                    client, path, knowledge_base, delete_missing, on_result
                )
    if created:
        print(f"created knowledge base {knowledge_base}", file=sys.stderr)
    line = summary_line(report, knowledge_base, time.monotonic() - started)
    if as_json:
        counts = {state: report.count(state) for state in STATES}
        print_json(
            {
                "knowledge_base": knowledge_base,
                "created": created,
                **counts,
                "files": [asdict(result) for result in report.files],
            }
        )
        print(line, file=sys.stderr)
    else:
        print(line)
    raise typer.Exit(report.exit_code)


@kb.command("list")
def list_bases(context: typer.Context, as_json: Json = False) -> None:
    """List knowledge bases with their counts."""
    from ingest.local import bases_here
    from ingest.remote import server_for
    from ingest.settings import read

    settings = read(context.obj)
    client = server_for(settings.data_dir)
    if client is None:
        bases = bases_here(settings)
    else:
        with client:
            bases = client.json("GET", "/v1/knowledge-bases")["knowledge_bases"]
    if as_json:
        print_json({"knowledge_bases": bases})
        return
    for base in bases:
        counts = f"{base['documents']} documents, {base['chunks']} passages"
        print(f"{base['name']:24} {counts:32} {base['description']}".rstrip())
    if not bases:
        print("no knowledge bases; make one: crag ingest PATH --kb NAME", file=sys.stderr)


@kb.command("create")
def create_base(
    context: typer.Context,
    name: str,
    description: Annotated[str, typer.Option(help="What it holds.")] = "",
    web: Annotated[
        bool, typer.Option("--web", help="The web may be searched where it has no answer.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Create an empty knowledge base."""
    from ingest.local import create_here
    from ingest.remote import server_for
    from ingest.settings import read

    settings = read(context.obj)
    client = server_for(settings.data_dir)
    if client is None:
        base = create_here(settings, name, description, web)
    else:
        with client:
            body = {"name": name, "description": description, "web": web}
            base = client.json("POST", "/v1/knowledge-bases", body)
    print_json(base) if as_json else print(f"created knowledge base {name}")


@kb.command("delete")
def delete_base(context: typer.Context, name: str, as_json: Json = False) -> None:
    """Delete a knowledge base with all its documents."""
    from urllib.parse import quote

    from ingest.local import delete_here
    from ingest.remote import server_for
    from ingest.settings import read

    settings = read(context.obj)
    client = server_for(settings.data_dir)
    if client is None:
        delete_here(settings, name)
    else:
        with client:
            client.json("DELETE", f"/v1/knowledge-bases/{quote(name, safe='')}")
    print_json({"deleted": name}) if as_json else print(f"deleted knowledge base {name}")


def print_json(document: Any) -> None:
    """The one document on standard output."""
    import json

    print(json.dumps(document, ensure_ascii=False, indent=2))
