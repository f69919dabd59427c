"""report.html: one file without network assets, for looking at rather than reading."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from eval.answer_metrics import answered
from eval.failures import clipped, groups
from eval.fates import FATES, fate, fate_counts
from eval.plots import Chart, grade_histograms, recall_chart, risk_chart
from eval.records import PIPELINES, STAGES, Pipeline, Record, of_pipeline
from eval.report import difference
from eval.selective import Point, answers_of, risk_coverage, selective
from eval.verdicts import verdicts

TEMPLATES = Path(__file__).parent / "templates"
STAGE_FIGURES = ("hit@1", "hit@3", "P@5", "nDCG@10")
TAG_FIGURES = {"correctness": "correct", "answered_wrong": "answered wrong"}


def html(records: Sequence[Record], metrics: dict[str, Any]) -> str:
    """The whole page. Every text in it is escaped: questions and answers come from documents."""
    shown: list[Pipeline] = [p for p in PIPELINES if of_pipeline(records, p)]
    main = shown[0]
    own, others = of_pipeline(records, main), of_pipeline(records, "naive")
    script = _own_file("report.js")
    failed = groups(own, [] if main == "naive" else others)
    return (
        _environment()
        .get_template("report.html")
        .render(
            main=main,
            metrics=metrics,
            pipelines=shown,
            verdicts=verdicts(metrics),
            fates=FATES,
            ended={pipeline: fate_counts(of_pipeline(records, pipeline)) for pipeline in shown},
            stages=_stages(metrics),
            steps={step: gains for step, gains in metrics["steps"].items() if gains},
            stage_figures=STAGE_FIGURES,
            recall=_recall(metrics, main),
            tags=metrics["by_tag"],
            tag_figures=TAG_FIGURES,
            grades=grade_histograms(_grades(own)),
            risk=_risk(own, others),
            selective=selective(own),
            latency=_latency(metrics),
            outcomes=_outcomes(own),
            failures=failed,
            failed_tags=_tags_of([f.record for group in failed for f in group.failures]),
            style=_own_file("report.css"),
            script=script,
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": lambda value: f"{100 * value:.1f} %",
        "signed": lambda value: f"{100 * value:+.1f}",
        "figure": lambda value: "–" if value is None else f"{value:.3f}",
        "difference": difference,
        "clipped": clipped,
        "breakable": lambda name: Markup("_<wbr>").join(name.split("_")),
    }
    return environment


def _own_file(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))  # ours, so not to be escaped


def _stages(metrics: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """(pipeline, stage, figures) in the order of the run; empty without an answerable question."""
    return [
        (pipeline, stage, stages[stage])
        for pipeline, stages in metrics["stages"].items()
        for stage in STAGES
        if "hit@1" in stages.get(stage, {})
    ]


def _recall(metrics: dict[str, Any], main: str) -> Chart | None:
    stages = _stages(metrics)
    if not stages:
        return None
    names = {s if p == main else f"{p}: {s}": found for p, s, found in stages}
    return recall_chart(names, {n: "naive" if n.startswith("naive:") else n for n in names})


def _grades(records: Sequence[Record]) -> dict[Any, list[float | None]]:
    grades: dict[Any, list[float | None]] = {}
    for record in records:
        if record.ran is not None:
            grades.setdefault(fate(record), []).append(record.ran.best_grade)
    return grades if any(g is not None for found in grades.values() for g in found) else {}


def _risk(records: Sequence[Record], naive: Sequence[Record]) -> Chart | None:
    """None where no answer has a confidence to sort it by."""
    curve = risk_coverage(answers_of(records), len(records))
    return risk_chart(curve, _point(naive)) if curve else None


def _point(records: Sequence[Record]) -> Point | None:
    ends = [fate(r) == "wrong" for r in records if r.ran is not None and answered(r.ran)]
    return (len(ends) / len(records), fmean(ends)) if ends else None


def _latency(metrics: dict[str, Any]) -> dict[str, Any]:
    """`nodes`: (node, mean milliseconds by pipeline), slowest first; `longest` of them all."""
    found = {p: latency for p, latency in metrics["latency_ms"].items() if latency}
    means = {p: latency["mean_by_node"] for p, latency in found.items()}
    nodes = {node for by_node in means.values() for node in by_node}
    rows = [(node, {p: by_node.get(node) for p, by_node in means.items()}) for node in nodes]
    rows.sort(key=lambda row: (-max(value or 0.0 for value in row[1].values()), row[0]))
    longest = max((value or 0.0 for _, row in rows for value in row.values()), default=0.0)
    return {"totals": found, "nodes": rows, "longest": longest or 1.0}


def _outcomes(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """By outcome and reason, how many questions with and without an answer ended so."""
    counted: dict[str, dict[str, int]] = {}
    for record in records:
        ran = record.ran
        name = "error" if ran is None else " · ".join(filter(None, (ran.outcome, ran.reason)))
        row = counted.setdefault(name, {"answerable": 0, "unanswerable": 0})
        row["answerable" if record.golden.answerable else "unanswerable"] += 1
    return dict(sorted(counted.items(), key=lambda item: -sum(item[1].values())))


def _tags_of(records: Sequence[Record]) -> dict[str, int]:
    tags = sorted({tag for record in records for tag in record.golden.tags})
    return {tag: sum(tag in record.golden.tags for record in records) for tag in tags}
