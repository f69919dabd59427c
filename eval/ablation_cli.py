"""The command `crag eval ablation`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

SPLITS = ("dev", "test")
SIDES = ("all", "tune", "report")


def ablation(
    context: typer.Context,
    beir: Annotated[
        Path | None,
        typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl and qrels/."),
    ] = None,
    golden: Annotated[
        Path | None, typer.Option(help="A golden set, one JSON object a line.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="The folder that the golden set asks about; ingested first.")
    ] = None,
    knowledge_base: Annotated[
        str | None, typer.Option("--kb", help="Ask this base, whatever the golden set names.")
    ] = None,
    techniques: Annotated[
        str | None, typer.Option(help="Names, by commas; without it all that change the result.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="dev or test of a golden set; the file of qrels/.")
    ] = None,
    side: Annotated[
        str, typer.Option(help="Half of the questions by their id: all, tune or report.")
    ] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many questions, always the same: by the hash of the id."),
    ] = None,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", help="Where bases and values are kept between runs.")
    ] = Path(".crag-eval"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure each technique on and off, on the same questions: the gain with its interval, the
    added milliseconds, chat calls and cost.

    With --beir the first search is measured; techniques that show only in whole runs are measured
    where --techniques names them. Values are kept: what was cut short goes on, and a change of
    code, settings or documents runs anew. Exits 4 where a question ended in an error.
    """
    import asyncio

    from eval.ablation import ablation as measure
    from eval.ablation_report import table
    from eval.ablation_sets import BeirSet, GoldenSet
    from eval.datasets import load_beir, on_side, sampled
    from eval.evaluate import Evaluation, chosen
    from eval.runner import deterministic
    from eval.safety_runs import code_version
    from eval.techniques import named
    from ingest.errors import ConfigurationError
    from ingest.settings import own_folder, read

    if (beir is None) == (golden is None):
        raise typer.BadParameter("give exactly one of --beir, --golden")
    if side not in SIDES:
        raise typer.BadParameter(f"unknown {side!r}; known: {', '.join(SIDES)}",
            param_hint="--side")  # fmt: skip
    if golden is not None and split not in (None, *SPLITS):
        raise typer.BadParameter(f"unknown {split!r}; known: dev, test", param_hint="--split")
    if beir is not None and (documents or knowledge_base):
        raise typer.BadParameter("--documents and --kb belong to --golden")
    half: Any = side
    part: Any = split
    picked = named(techniques, searches_alone=beir is not None)
    code = code_version()
    asked: Any
    if beir is not None:
        dataset = load_beir(beir, split=split or "test", side=half)
        asked = BeirSet(dataset, sampled(dataset.questions[:limit], sample))
    else:
        assert golden is not None
        all_of_it = chosen(Evaluation(golden, data_dir, knowledge_base, documents, split=part))
        own_side = [q for q in all_of_it if on_side(q.id, half)]
        asked = GoldenSet(golden.name, sampled(own_side[:limit], sample), documents)
    if not asked.questions:
        raise ConfigurationError(f"there is no question of side {side}")
    settings = deterministic(read(context.obj, **own_folder(data_dir)))
    done = asyncio.run(measure(settings, asked, picked, code=code))
    print(json.dumps(done, indent=2) if as_json else "\n".join(table(done)))
    if done["errors"]:
        raise typer.Exit(4)
