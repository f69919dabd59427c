"""The commands `crag eval run|gate|accept|compare`: what works on golden sets."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Run = Annotated[Path, typer.Option("--run", help="The folder that `crag eval run` wrote.")]
Baseline = Annotated[Path, typer.Option(help="The accepted figures: a file of `eval accept`.")]

SPLITS = ("dev", "test")


def run(
    context: typer.Context,
    golden: Annotated[Path, typer.Option(help="The golden set, one JSON object a line.")],
    out: Annotated[Path, typer.Option(help="The folder of results; made where it is missing.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many questions, always the same: by the hash of the id."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the records that --out already holds.")
    ] = False,
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
    from ingest.settings import own_folder, read

    if split is not None and split not in SPLITS:
        raise typer.BadParameter(f"unknown {split!r}; known: dev, test", param_hint="--split")
    settings = read(context.obj, **(own_folder(data_dir) if data_dir is not None else {}))
    chosen: Any = {"split": split}
    evaluation = Evaluation(
        golden,
        out,
        knowledge_base,
        documents,
        limit=limit,
        sample=sample,
        resume=resume,
        usd_per_million_tokens=usd_per_million_tokens,
        **chosen,
    )
    metrics = asyncio.run(evaluate(settings, evaluation))
    print(json.dumps(metrics, indent=2) if as_json else "\n".join(summary(metrics, out)))


def gate(
    run: Run,
    baseline: Baseline,
    policy: Annotated[Path, typer.Option(help="The thresholds, as eval/gate.toml has them.")],
    junit: Annotated[
        Path | None, typer.Option(help="Write JUnit XML here: a test case for each threshold.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Write Markdown here, for the page of a build.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Hold a run against the baseline and the thresholds of a policy.

    Exits 0 pass, 1 regression, 2 configuration, 3 stale labels,
    4 incomplete (an error, a NaN, a missing row). Of several the first of 2, 3, 4, 1 holds.
    """
    from eval.baseline import read_baseline
    from eval.gate import Verdict, judge
    from eval.gate_report import as_json as document
    from eval.gate_report import lines, markdown
    from eval.junit import junit as as_junit
    from eval.policy import load_policy
    from eval.relevance import StaleLabels
    from eval.results import Incomplete, read_results

    for file in (junit, summary):
        if file is not None and file.is_file():
            file.unlink()  # the last run's verdict must not stand for this one
    thresholds, accepted = load_policy(policy), read_baseline(baseline)
    try:
        verdict = judge(read_results(run), accepted, thresholds)
    except StaleLabels as stale:
        verdict = Verdict(problems=[stale.message], stale=True)
    except Incomplete as incomplete:
        verdict = Verdict(problems=[incomplete.message])
    if junit is not None:
        _write(junit, as_junit(verdict))
    if summary is not None:
        _write(summary, markdown(verdict))
    print(json.dumps(document(verdict), indent=2) if as_json else "\n".join(lines(verdict)))
    raise typer.Exit(verdict.exit_code)


def accept(
    run: Run,
    baseline: Baseline,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a baseline of another golden set.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make this run the baseline, and show what that changes.

    Exits 4 for an incomplete run, 3 for one that stopped on stale labels, 2 for a baseline of
    another golden set without --force; the file stays as it was.
    """
    from eval.baseline import as_text, from_results, of_another_set, read_baseline
    from eval.compare import compare, lines
    from eval.results import Incomplete, read_results
    from ingest.errors import ConfigurationError

    results = read_results(run)
    problems = results.problems()
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise Incomplete(f"not accepted, the run is incomplete: {problems[0]}{more}")
    before = read_baseline(baseline) if baseline.exists() else None
    compared = compare(before.rows, results, origin=before) if before else None
    other = of_another_set(before, results) if before else ""
    accepted = force or not other
    if accepted:
        _write(baseline, as_text(from_results(results)))
    report = {"baseline": str(baseline), "accepted": accepted, "n": len(results.questions)}
    done = "accepted" if accepted else "it would change, accepting"
    said = [f"{done} {run} as {baseline}: {len(results.questions)} questions"]
    said += lines(compared) if compared else ["there was no baseline before"]
    print(json.dumps(report | {"compared": compared}, indent=2) if as_json else "\n".join(said))
    if not accepted:
        raise ConfigurationError(f"not accepted: {baseline} is {other}; --force replaces it")


def compare(
    before: Annotated[Path, typer.Argument(metavar="DIR_A", help="A run's folder.")],
    after: Annotated[Path, typer.Argument(metavar="DIR_B", help="A later run's folder.")],
    as_json: Json = False,
) -> None:
    """Compare two runs: differences with 95 % intervals, paired by question, and what turned."""
    from eval.compare import compare as compared
    from eval.compare import lines
    from eval.results import read_results

    first, second = read_results(before), read_results(after)
    found = compared(first.rows, second, origin=first.origin)
    print(json.dumps(found, indent=2) if as_json else "\n".join(lines(found)))


def _write(file: Path, text: str) -> None:
    from ingest.errors import ConfigurationError

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror}") from None
