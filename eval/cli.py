"""The commands `crag eval` and `crag calibrate`. Imports wait until a command runs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from eval import ablation_cli, draft_cli, golden_cli, safety_cli

commands = typer.Typer(help="Measure retrieval and answers on labelled questions.")
commands.command("run")(golden_cli.run)
commands.command("gate")(golden_cli.gate)
commands.command("accept")(golden_cli.accept)
commands.command("compare")(golden_cli.compare)
commands.command("draft")(draft_cli.draft)
commands.command("safety")(safety_cli.safety)
commands.command("ablation")(ablation_cli.ablation)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Split = Annotated[str, typer.Option(help="The file of qrels/ that judges: test, train, dev.")]
DataFolder = Annotated[
    Path, typer.Option("--data-dir", help="Where embedded datasets are kept between runs.")
]

SIDES = ("all", "tune", "report")
HALVES = ("open", "frozen")
PIPELINES = ("dense", "bm25", "rrf", "blend", "rerank", "corrective")
SCORERS = ("service", "baseline9")
DATA = Path(".crag-eval")
"""Apart from the service's own data folder: a benchmark's bases are nobody's documents."""


@commands.callback()
def group() -> None:
    """One command alone would otherwise stand for the whole group."""


@commands.command()
def benchmark(
    context: typer.Context,
    beir: Annotated[
        Path | None,
        typer.Option("--beir", help="A folder with corpus.jsonl, queries.jsonl and qrels/."),
    ] = None,
    claims: Annotated[
        list[Path] | None,
        typer.Option(help="JSONL of {dataset, id, doc, claim, label}; also packed; repeatable."),
    ] = None,
    near_misses: Annotated[
        Path | None,
        typer.Option(help="JSONL of {id, language, kind, passage, supported, near_miss}."),
    ] = None,
    rewrites: Annotated[
        Path | None,
        typer.Option(help="JSONL of {dataset, id, history, question, rewrite}; also packed."),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option(help=f"What ranks: {', '.join(PIPELINES)}; rerank if none is said."),
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option(
            help="What judges claims: service, its own grounding check, or baseline9: similarity "
            "and word overlap."
        ),
    ] = None,
    follow_ups: Annotated[
        bool,
        typer.Option(
            "--follow-ups",
            help="With --beir: its questions with a history, as asked and made to stand alone.",
        ),
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="So many of each file, always the same: by the hash of the id."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="The file of qrels/; test if none is said.")] = (
        None
    ),
    side: Annotated[
        str | None,
        typer.Option(
            help="Half of the questions by their id: all, tune or report; of near misses, open or "
            "frozen."
        ),
    ] = None,
    data_dir: DataFolder = DATA,
    as_json: Json = False,
) -> None:
    """Measure retrieval (--beir), the grounding check (--claims or --near-misses) or follow-ups
    (--beir with --follow-ups, --rewrites).

    What was embedded or judged is kept in --data-dir: a run that was cut short goes on from there.
    """
    import asyncio

    from eval.benchmark_text import report_lines
    from ingest.settings import own_folder, read

    source = _only_one(
        {"--beir": beir, "--claims": claims, "--near-misses": near_misses, "--rewrites": rewrites}
    )
    _only_for(source, "--beir", {"--pipeline": pipeline, "--split": split})
    _only_for(source, "--claims", {"--scorer": scorer})
    if source == "--claims" and side is not None:
        raise typer.BadParameter("claims are tuned on one side and reported on the other",
                                 param_hint="--side")  # fmt: skip
    for value, known, option in (
        (pipeline, PIPELINES, "--pipeline"), (scorer, SCORERS, "--scorer"),
        (side, HALVES if near_misses else SIDES, "--side"),
    ):  # fmt: skip
        if value is not None:
            _one_of(value, known, option)
    settings = read(context.obj, **own_folder(data_dir))
    named: Any
    if follow_ups and beir is None:
        raise typer.BadParameter("it is for --beir", param_hint="--follow-ups")
    if sample is not None and (scorer == "baseline9" or (beir is not None and not follow_ups)):
        raise typer.BadParameter("not for baseline9, nor --beir alone", param_hint="--sample")
    if limit is not None and near_misses is not None:
        raise typer.BadParameter("not for --near-misses; --sample is", param_hint="--limit")
    chosen: Any = {"side": side or "all", "limit": limit}
    if beir is not None and follow_ups:
        from eval.follow_ups import benchmark_follow_ups

        named = pipeline or "rerank"
        running = benchmark_follow_ups(
            settings, beir, named, split=split or "test", sample=sample, **chosen
        )
    elif beir is not None:
        from eval.benchmark import benchmark as measure

        named = pipeline or "rerank"
        running = measure(settings, beir, named, split=split or "test", **chosen)
    elif claims:
        from eval.claims import benchmark_claims

        judge: Any = scorer or "service"
        running = benchmark_claims(settings, claims, judge, limit=limit, sample=sample)
    elif near_misses is not None:
        from eval.claim_pairs import benchmark_near_misses

        half: Any = side or "open"
        running = benchmark_near_misses(settings, near_misses, half, sample=sample)
    else:
        from eval.rewrites import benchmark_rewrites

        assert rewrites is not None
        running = benchmark_rewrites(settings, rewrites, sample=sample, **chosen)
    report = asyncio.run(running)
    print(json.dumps(report, indent=2) if as_json else "\n".join(report_lines(report)))


def calibrate(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="The calibration file to write.")],
    beir: Annotated[
        list[Path] | None, typer.Option("--beir", help="A BEIR folder; repeatable.")
    ] = None,
    golden: Annotated[
        list[Path] | None, typer.Option("--golden", help="A golden file; repeatable.")
    ] = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option("--documents", help="The folder that the golden file asks about; repeatable."),
    ] = None,
    excerpts: Annotated[
        list[Path] | None,
        typer.Option(
            "--excerpts",
            help="A folder with corpora/ and questions.jsonl with the excerpts that "
            "answer; repeatable.",
        ),
    ] = None,
    triples: Annotated[
        Path | None, typer.Option(help="Questions with an answering and a misleading passage.")
    ] = None,
    split: Split = "test",
    side: Annotated[
        str, typer.Option(help="Half of the questions by their id: all, tune or report.")
    ] = "tune",
    precision: Annotated[float, typer.Option(min=0, max=1, help="What `upper` reaches.")] = 0.8,
    recall: Annotated[float, typer.Option(min=0, max=1, help="What `lower` keeps.")] = 0.95,
    report: Annotated[
        Path | None, typer.Option(help="The folder of the report; without it, beside --out.")
    ] = None,
    data_dir: DataFolder = DATA,
    as_json: Json = False,
) -> None:
    """Fit the grader's probabilities and thresholds to labelled questions of yours.

    Of a golden file only rows of split dev are read. Then set CRAG_GRADE__CALIBRATION to the
    file; the report beside it, a page and a plot, says what its thresholds would have done.
    """
    import asyncio

    from eval.calibrate import calibrate as fit
    from eval.calibration_data import Sources, gather
    from eval.calibration_report import write_report
    from ingest.settings import own_folder, read

    _one_of(side, SIDES, "--side")
    pairs = list(zip(golden or [], documents or [], strict=False))
    if len(golden or []) != len(documents or []):
        raise typer.BadParameter("each --golden needs one --documents", param_hint="--documents")
    if not out.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {out.parent}", param_hint="--out")
    if out.is_dir() or out.suffix in (".md", ".svg"):
        raise typer.BadParameter("a JSON file; .md and .svg are its report's", param_hint="--out")
    settings = read(context.obj, **own_folder(data_dir))
    chosen: Any = {"side": side}
    sources = Sources(beir or [], pairs, excerpts or [], triples, split, **chosen)
    passages, model = asyncio.run(gather(settings, sources))
    fitted = fit(passages, model=model, precision=precision, recall=recall)
    out.write_text(fitted.file.model_dump_json(indent=2) + "\n", encoding="utf-8")
    written = [str(file) for file in write_report(fitted, report or out.parent, out.stem)]
    done = {
        "out": str(out),
        "report": written,
        "fitted_on": fitted.file.fitted_on,
        "measured": fitted.file.measured,
    }
    said = f"wrote {out}: {len(passages)} passages; report: {written[0]}"
    print(json.dumps(done, indent=2) if as_json else said)


def _one_of(value: str, known: tuple[str, ...], option: str) -> None:
    if value not in known:
        raise typer.BadParameter(f"unknown {value!r}; known: {', '.join(known)}", param_hint=option)


def _only_one(sources: Mapping[str, Path | list[Path] | None]) -> str:
    given = [option for option, path in sources.items() if path]
    if len(given) != 1:
        raise typer.BadParameter(
            f"give exactly one of {', '.join(sources)}; {' and '.join(given) or 'none'} was given"
        )
    return given[0]


def _only_for(source: str, wanted: str, options: dict[str, str | None]) -> None:
    for option, value in options.items():
        if value is not None and source != wanted:
            raise typer.BadParameter(f"it is for {wanted}", param_hint=option)
