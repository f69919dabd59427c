"""The command `crag eval safety`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

SUITES = ("poisoned", "injections", "conflicts", "refusal")
SIDES = ("tune", "report")


def safety(
    context: typer.Context,
    data: Annotated[
        Path,
        typer.Option(
            help="The folder with poisonedrag/, bipia/, deepset_injections/, ramdocs/, "
            "beir/xquad-en/ and beir/mtrag/; a suite needs only its own."
        ),
    ],
    suite: Annotated[str, typer.Option(help=f"One of {', '.join(SUITES)}, or all.")] = "all",
    side: Annotated[
        str, typer.Option(help="Half of the cases by their id: tune or report.")
    ] = "report",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, help="Only the first rows of each suite, by hash; a row may be two runs."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for records.jsonl, metrics.json and report.md."),
    ] = None,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", help="Where passages and runs are kept.")
    ] = Path(".crag-eval"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure what the service does with planted answers, injected instructions, documents that
    disagree, and questions that nothing answers.

    Whole runs, as a person's, with a chat model where one is set. Passages and runs are kept, so
    that what was cut short goes on; a change of code or settings runs anew. While working on the
    service, use --side tune --limit 20, and leave the other side alone.

    Exits 4 where a run ended in an error: its case is in no figure.
    """
    import asyncio

    from eval.safety import markdown
    from eval.safety import safety as measure
    from ingest.settings import own_folder, read
    from ingest.terminal import say

    for value, known, option in ((suite, (*SUITES, "all"), "--suite"), (side, SIDES, "--side")):
        if value not in known:
            said = f"unknown {value!r}; known: {', '.join(known)}"
            raise typer.BadParameter(said, param_hint=option)
    chosen: Any = SUITES if suite == "all" else (suite,)
    half: Any = side
    settings = read(context.obj, **own_folder(data_dir))
    report = asyncio.run(measure(settings, data, chosen, half, limit=limit, out=out))
    say(json.dumps(report, indent=2) if as_json else markdown(report).rstrip())
    if report["errors"]:
        raise typer.Exit(4)
