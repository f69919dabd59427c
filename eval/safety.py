"""`crag eval safety`: planted answers, injected orders, conflicts and refusals in whole runs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eval.safety_conflicts as conflicts
import eval.safety_injections as injections
import eval.safety_poisoned as poisoned
import eval.safety_refusal as refusal
from eval.datasets import Side
from eval.report import table
from eval.runner import deterministic
from eval.safety_cases import Case, Suite
from eval.safety_figures import Figure
from eval.safety_passages import ensure_passages
from eval.safety_records import KeptRuns, Ran
from eval.safety_runs import code_version, run_cases
from graph.compose import Service, open_graph
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError

RECORDS, METRICS, REPORT = "records.jsonl", "metrics.json", "report.md"
KEPT = "safety.jsonl"

Runs = Sequence[tuple[Case, Ran]]


@dataclass(frozen=True)
class _Measured:
    load: Callable[[Path, Side], Suite]
    figures: Callable[[Runs], list[Figure]]
    curve: Callable[[Runs], list[dict[str, float]]] | None = None


SUITES = {
    "poisoned": _Measured(poisoned.load, poisoned.figures),
    "injections": _Measured(injections.load, injections.figures),
    "conflicts": _Measured(conflicts.load, conflicts.figures),
    "refusal": _Measured(refusal.load, refusal.figures, refusal.curve),
}


async def safety(
    settings: GraphSettings,
    data: Path,
    suites: Sequence[str],
    side: Side,
    *,
    limit: int | None = None,
    out: Path | None = None,
) -> dict[str, Any]:
    """The report of these suites on one side; `limit` keeps the first rows by hash.

    Searches are exact and no deadline ends a run. Runs are kept in the data folder, or in `out`,
    which then holds metrics.json and report.md too. Raises ConfigurationError.
    """
    code = code_version()
    loaded = {name: SUITES[name].load(data, side) for name in suites}
    for name, suite in loaded.items():
        if not suite.cases:
            raise ConfigurationError(f"{data}: no case of {name} on side {side}")
    if out is not None:
        _make(out)
    async with open_graph(deterministic(settings)) as service:
        await service.load()  # a model that cannot be used ends it, not each case
        kept = KeptRuns(out / RECORDS if out else service.corpus.folder.path / KEPT)
        measured = {
            name: await _measure(service, suite, suite.first(limit), kept, code)
            for name, suite in loaded.items()
        }
    report = {
        "side": side,
        "limit": limit,
        "chat": settings.chat.model,
        "errors": sum(len(own["errors"]) for own in measured.values()),
        "suites": measured,
    }
    if out is not None:
        text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
        (out / METRICS).write_text(text + "\n", encoding="utf-8")
        (out / REPORT).write_text(markdown(report), encoding="utf-8")
    return report


async def _measure(
    service: Service, suite: Suite, cases: Sequence[Case], kept: KeptRuns, code: str
) -> dict[str, Any]:
    await ensure_passages(service.corpus, suite)
    runs, errors = await run_cases(service, suite, cases, kept, code=code)
    measured = SUITES[suite.name]
    ms = sorted(ran.ms for _, ran in runs)
    return {
        "n": len(runs),
        "left_out": suite.left_out,
        "errors": errors,
        "degraded": sum(bool(ran.degraded) for _, ran in runs),
        "p50_ms": round(ms[len(ms) // 2], 1) if ms else None,
        "chat_calls": sum(ran.chat_calls for _, ran in runs),
        "figures": {figure.name: figure.as_json() for figure in measured.figures(runs)},
        **({"curve": measured.curve(runs)} if measured.curve else {}),
    }


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"--out {out} cannot be a folder: {error.strerror}") from None


def markdown(report: dict[str, Any]) -> str:
    """The figures of each suite as a table, the curve below them."""
    limit = f", first {report['limit']} rows of each suite" if report["limit"] else ""
    model = report["chat"] or "no chat model"
    parts = [f"# Safety: {report['side']} side{limit}, {model}"]
    for name, own in report["suites"].items():
        left = f", {own['left_out']} rows left out" if own["left_out"] else ""
        faults = f"{len(own['errors'])} errors, {own['degraded']} degraded"
        parts.append(f"## {name}: {own['n']} runs, {faults}{left}")
        rows = [[figure, *_shown(told)] for figure, told in own["figures"].items()]
        parts.append(table(["figure", "n", "value", "95 % interval", "aim"], rows))
        if own.get("curve"):
            header = list(own["curve"][0])
            points = [[f"{point[key]:.2f}" if key in point else "-" for key in header]
                      for point in own["curve"]]  # fmt: skip
            parts.append(table(header, points))
        parts += [f"error: {error}" for error in own["errors"]]
    return "\n\n".join(parts) + "\n"


def _shown(figure: dict[str, Any]) -> list[str]:
    if figure["value"] is None:
        return [str(figure["n"]), "-", "-", ""]
    low, high = figure["interval"]
    interval = "-" if low is None else f"{low:.3f} to {high:.3f}"
    aim = ""
    if "met" in figure:
        bound = f"<= {figure['at_most']:g}" if "at_most" in figure else f">= {figure['at_least']:g}"
        aim = f"{bound}: {'met' if figure['met'] else 'MISSED'}"
    return [str(figure["n"]), f"{figure['value']:.3f}", interval, aim]
