"""The commands `crag ingest` and `crag kb`. Imports wait until a command runs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Acl = Annotated[
    list[str] | None,
    typer.Option(help="Who may read: *, user:NAME or group:NAME; may be repeated."),
]
Examples = Annotated[
    list[str] | None,
    typer.Option("--example", help="A question that it answers; may be repeated."),
]
Base = Annotated[str, typer.Option("--kb", help="The knowledge base.")]

Tenant = Annotated[str, typer.Option("--tenant", help="Whose knowledge base it is.")]

kb = typer.Typer(help="Knowledge bases: the sets of documents that questions are asked of.")


def ingest(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="A file or a folder.")],
    knowledge_base: Base,
    delete_missing: Annotated[
        bool, typer.Option(help="Delete documents that are not in this folder.")
    ] = False,
    acl: Acl = None,
    as_json: Json = False,
) -> None:
    """Bring a knowledge base in line with a folder: documents are named by their path in it.

    Exits 0 when all files were read, 3 when some failed, 1 when none could be read.
    """
    import time
    from dataclasses import asdict

    from ingest.acl import parse_acl
    from ingest.errors import InvalidRequest
    from ingest.local import ingest_here
    from ingest.pipeline import files_below
    from ingest.progress import STATES, shown_progress, summary_line
    from ingest.remote import here_or_through
    from ingest.settings import read
    from ingest.terminal import counted, say, say_json
    from ingest.through_server import ingest_through

    settings = read(context.obj)
    given = parse_acl(acl) if acl else None
    files = len(files_below(path))
    if delete_missing and not files:
        raise InvalidRequest(f"{path} has no files: --delete-missing would empty {knowledge_base}")
    say(f"reading {counted(files, 'file')} of {path}", sys.stderr)
    started = time.monotonic()
    with shown_progress(files) as on_result:
        what = (path, knowledge_base, delete_missing, given, on_result)
        report, created = here_or_through(
            settings.data_dir,
            lambda: ingest_here(settings, *what),
            lambda server: ingest_through(server, *what),
        )
    if created:
        say(f"created knowledge base {knowledge_base}", sys.stderr)
    line = summary_line(report, knowledge_base, time.monotonic() - started)
    if as_json:
        counts = {state: report.count(state) for state in STATES}
        say_json(
            {
                "knowledge_base": knowledge_base,
                "created": created,
                **counts,
                "files": [asdict(result) for result in report.files],
            }
        )
        say(line, sys.stderr)
    else:
        say(line)
    raise typer.Exit(report.exit_code)


@kb.command("list")
def list_bases(context: typer.Context, as_json: Json = False) -> None:
    """List knowledge bases with their counts."""
    from ingest.local import bases_here
    from ingest.remote import here_or_through
    from ingest.settings import read
    from ingest.terminal import say, say_json, table
    from ingest.through_server import bases_through

    settings = read(context.obj)
    bases = here_or_through(settings.data_dir, lambda: bases_here(settings), bases_through)
    if as_json:
        say_json({"knowledge_bases": bases})
        return
    if not bases:
        say("no knowledge bases; make one: crag ingest PATH --kb NAME", sys.stderr)
        return
    shown = [(b["name"], str(b["documents"]), str(b["chunks"]), b["description"]) for b in bases]
    say("\n".join(table(("NAME", "DOCUMENTS", "PASSAGES", "DESCRIPTION"), shown)))


@kb.command("create")
def create_base(
    context: typer.Context,
    name: str,
    description: Annotated[str, typer.Option(help="What it holds.")] = "",
    web: Annotated[
        bool, typer.Option("--web", help="The web may be searched where it has no answer.")
    ] = False,
    acl: Acl = None,
    example: Examples = None,
    as_json: Json = False,
) -> None:
    """Create an empty knowledge base."""
    from ingest.local import create_here
    from ingest.remote import here_or_through
    from ingest.settings import read
    from ingest.terminal import say, say_json
    from ingest.through_server import create_through

    settings = read(context.obj)
    base = here_or_through(
        settings.data_dir,
        lambda: create_here(settings, name, description, web, acl, example or []),
        lambda server: create_through(server, name, description, web, acl, example or []),
    )
    say_json(base) if as_json else say(f"created knowledge base {name}")


@kb.command("describe")
def describe_base(
    context: typer.Context,
    name: str,
    description: Annotated[str, typer.Option(help="What it holds.")] = "",
    example: Examples = None,
    as_json: Json = False,
) -> None:
    """Say what a base holds and which questions it answers, in place of what was said."""
    from ingest.local import describe_here
    from ingest.remote import here_or_through
    from ingest.settings import read
    from ingest.terminal import say, say_json
    from ingest.through_server import describe_through

    settings = read(context.obj)
    base = here_or_through(
        settings.data_dir,
        lambda: describe_here(settings, name, description, example or []),
        lambda server: describe_through(server, name, description, example or []),
    )
    say_json(base) if as_json else say(f"described knowledge base {name}")


@kb.command("delete")
def delete_base(context: typer.Context, name: str, as_json: Json = False) -> None:
    """Delete a knowledge base with all its documents."""
    from ingest.local import delete_here
    from ingest.remote import here_or_through
    from ingest.settings import read
    from ingest.terminal import say, say_json
    from ingest.through_server import delete_through

    settings = read(context.obj)
    here_or_through(
        settings.data_dir,
        lambda: delete_here(settings, name),
        lambda server: delete_through(server, name),
    )
    say_json({"deleted": name}) if as_json else say(f"deleted knowledge base {name}")


@kb.command("copy")
def copy_knowledge_base(
    context: typer.Context,
    name: str,
    to_url: Annotated[
        str | None, typer.Option(help="Its chunks go to the Qdrant server at this address.")
    ] = None,
    to_data_dir: Annotated[
        Path | None,
        typer.Option(help="It goes to this data folder; without --to-url to its embedded store."),
    ] = None,
    to_database: Annotated[str | None, typer.Option(help="Records go to this PostgreSQL.")] = None,
    new_name: Annotated[str | None, typer.Option("--as", help="Its name there.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete what is there of it first.")
    ] = False,
    tenant: Tenant = "local",
    as_json: Json = False,
) -> None:
    """Copy a knowledge base with its vectors to another store, folder or name.

    The copy is counted in the end. The same command takes up a copy that was cut short. Stop a
    server that holds the data folder first.
    """
    from dataclasses import asdict

    from ingest.local import copy_here
    from ingest.settings import read
    from ingest.terminal import counted, say, say_json

    def told(done: int, of: int) -> None:
        if done % 100 == 0 or done == of:
            say(f"{done} of {of} documents", sys.stderr)

    report = copy_here(
        read(context.obj),
        name,
        tenant=tenant,
        data_dir=to_data_dir,
        url=to_url,
        database=to_database,
        new_name=new_name,
        replace_target=replace,
        on_document=told,
    )
    if as_json:
        say_json(asdict(report))
        return
    counts = f"{counted(report.documents, 'document')}, {counted(report.chunks, 'passage')}"
    say(f"{report.knowledge_base}: {counts}, {report.already} documents were there already")


@kb.command("reembed")
def reembed_knowledge_base(
    context: typer.Context, name: str, tenant: Tenant = "local", as_json: Json = False
) -> None:
    """Embed a knowledge base anew after its embedder was changed.

    Its passages and documents stay; the old vectors answer for nothing and are deleted in the end.
    The same command takes up work that was cut short. Stop a server that holds the data folder
    first.
    """
    from ingest.local import reembed_here
    from ingest.settings import read
    from ingest.terminal import say, say_json

    def told(done: int, of: int) -> None:
        say(f"{done} of {of} passages", sys.stderr)

    count = reembed_here(read(context.obj), name, tenant=tenant, on_chunks=told)
    if as_json:
        say_json({"knowledge_base": name, "embedded": count})
    else:
        say(f"{name}: {count} passages embedded")
