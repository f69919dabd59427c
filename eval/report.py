"""report.md and report.html: what a person reads of an evaluation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.records import Record

STAGE_COLUMNS = ("hit@1", "hit@3", "P@5", "R@5", "nDCG@10")


def write_reports(out: Path, records: Sequence[Record], metrics: dict[str, Any]) -> None:
    from eval.report_html import html

    (out / "report.md").write_text(markdown(metrics), encoding="utf-8")
    (out / "report.html").write_text(html(records, metrics), encoding="utf-8")


def markdown(metrics: dict[str, Any]) -> str:
    """The metrics as tables: answers, stages of retrieval, tags."""
    parts = [f"# Evaluation of {', '.join(metrics['knowledge_bases'])}", _about(metrics)]
    parts += [
        "## Answers",
        _answers(metrics),
        *_selective(metrics),
        "## Retrieval, before and after",
        _stages(metrics),
        *_steps(metrics),
    ]
    parts += ["## By tag", _tags(metrics)]
    return "\n\n".join(parts) + "\n"


def _about(metrics: dict[str, Any]) -> str:
    golden = metrics["golden"]
    split = golden["split"] or "all"
    return (
        f"{metrics['n']} questions of {golden['file']} (split: {split}), "
        f"{metrics['errors']} errors; index {metrics['index_version']}. "
        "Intervals are 95 %, by bootstrap over questions; the gain is corrective minus naive, "
        "paired."
    )


def _answers(metrics: dict[str, Any]) -> str:
    rows = []
    for name, value in metrics["metrics"].get("corrective", {}).items():
        if "@" in name:
            continue
        naive = metrics["metrics"].get("naive", {}).get(name)
        gain = metrics["gain"].get(name)
        rows.append(
            [
                name,
                str(metrics["applies"]["corrective"].get(name, 0)),
                f"{value:.3f} {_ends(metrics['intervals']['corrective'].get(name))}",
                "" if naive is None else f"{naive:.3f}",
                difference(gain),
            ]
        )
    return table(["metric", "n", "corrective", "naive", "gain"], rows)


def _selective(metrics: dict[str, Any]) -> list[str]:
    found = metrics.get("selective", {}).get("corrective")
    if not found:
        return []
    return [
        f"Answers sorted by their confidence: area under the risk–coverage curve (AURC) "
        f"{found['aurc']:.3f}; {100 * found['coverage_at_5_percent_risk']:.1f} % of all questions "
        f"are answered at a risk of 5 %."
    ]


def _stages(metrics: dict[str, Any]) -> str:
    rows = [
        [f"{pipeline}: {stage}", *(f"{found.get(name, 0):.3f}" for name in STAGE_COLUMNS)]
        for pipeline, stages in metrics["stages"].items()
        for stage, found in stages.items()
    ]
    best = metrics["reachable"]
    rows.append(["reachable at most", *(f"{best.get(name, 0):.3f}" for name in STAGE_COLUMNS)])
    return table(["stage", *STAGE_COLUMNS], rows)


def _steps(metrics: dict[str, Any]) -> list[str]:
    """What each step gains over the one before, as far as both were measured."""
    rows = [
        [step, *(difference(gains.get(name)) for name in STAGE_COLUMNS)]
        for step, gains in metrics["steps"].items()
        if gains
    ]
    return [table(["gain of", *STAGE_COLUMNS], rows)] if rows else []


def difference(gain: Mapping[str, Any] | None) -> str:
    """A paired gain with its interval."""
    return "" if gain is None else f"{gain['difference']:+.3f} {_ends(gain['interval'])}"


def _tags(metrics: dict[str, Any]) -> str:
    rows = []
    for tag, found in metrics["by_tag"].items():
        row = [tag, str(found["n"])]
        for name in ("correctness", "answered_wrong"):
            for pipeline in ("corrective", "naive"):
                value = found.get(pipeline, {}).get(name)
                row.append("" if value is None else f"{value:.2f}")
        rows.append(row)
    header = ["tag", "n", "correct", "correct, naive", "answered wrong", "wrong, naive"]
    return table(header, rows)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _ends(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"
