"""The command `crag eval draft`."""

from pathlib import Path
from typing import Annotated

import typer


def draft(
    context: typer.Context,
    knowledge_base: Annotated[str, typer.Option("--kb", help="The knowledge base to ask about.")],
    out: Annotated[Path, typer.Option(help="The golden file to write, one JSON object a line.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Questions at most; 30 where it is not said.")
    ] = None,
    from_feedback: Annotated[
        bool,
        typer.Option("--from-feedback", help="From runs that were refused, partial, degraded."),
    ] = False,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Another data folder than CRAG_DATA_DIR.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Propose golden questions from a knowledge base, for a person to correct.

    Each asks for a value that one sentence states; some ask for what no document names. A chat
    model words them where one is set. From feedback they are undecided: each note says so.
    """
    import asyncio

    from eval.draft import LIMIT
    from eval.draft import draft as drafted
    from ingest.errors import ConfigurationError
    from ingest.settings import own_folder, read
    from ingest.terminal import say, say_json

    if out.exists() and (not force or out.is_dir()):
        said = "is a folder" if out.is_dir() else "exists; --force replaces it"
        raise ConfigurationError(f"{out} {said}")
    settings = read(context.obj, **(own_folder(data_dir) if data_dir is not None else {}))
    done = asyncio.run(
        drafted(
            settings,
            knowledge_base,
            out,
            limit=limit or LIMIT,
            feedback=from_feedback,
            force=force,
        )
    )
    if as_json:
        say_json(done)
        return
    counts = f"{done['answerable']} with an answer, {done['not_answerable']} without"
    if from_feedback:
        counts = "undecided: set `answerable`, `relevant` and `must_contain`"
    say(f"wrote {out}: {done['n']} questions, {counts}; read each before it counts")
