"""The commands `crag eval run|gate|accept|compare|draft`: what works on golden sets."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

SPLITS = ("dev", "test")


def run(
    context: typer.Context,
    golden: Annotated[Path, typer.Option(help="The golden set, one JSON object a line.")],
    out: Annotated[Path, typer.Option(help="The folder of results; made where it is missing.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    split: Annotated[str | None, typer.Option(help="Only one split: dev or test.")] = None,
    knowledge_base: Annotated[
        str | None, typer.Option("--kb", help="Ask this knowledge base, whatever the set names.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Ingest this folder into the knowledge base first.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Another data folder than CRAG_DATA_DIR.")
    ] = None,
    usd_per_million_tokens: Annotated[
        float, typer.Option(min=0, help="Price of the chat model, for the report.")
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Run a golden set through the corrective run and the naive line, and measure both."""
    import asyncio

    from eval.evaluate import Evaluation, evaluate, summary
    from ingest.settings import read

    if split is not None and split not in SPLITS:
        raise typer.BadParameter(f"unknown {split!r}; known: dev, test", param_hint="--split")
    settings = read(context.obj, **({"data_dir": data_dir} if data_dir is not None else {}))
    chosen: Any = {"split": split}
    evaluation = Evaluation(
        golden,
        out,
        knowledge_base,
        documents,
        limit=limit,
        usd_per_million_tokens=usd_per_million_tokens,
        **chosen,
    )
    metrics = asyncio.run(evaluate(settings, evaluation))
    print(json.dumps(metrics, indent=2) if as_json else "\n".join(summary(metrics, out)))
