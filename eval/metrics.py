"""From records to metrics.json: means, intervals, stages, tags and the gain over naive."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.answer_metrics import METRICS
from eval.records import PIPELINES, STAGES, Pipeline, Record, Stage, of_pipeline
from eval.retrieval_metrics import NAMES, recall_curve, retrieval_values
from eval.selective import selective
from eval.statistics import bootstrap_intervals

LAST: dict[Pipeline, Stage] = {"corrective": "corrected", "naive": "retrieved"}
"""The stage whose ranking is a pipeline's own result."""

ALL = (*NAMES, *METRICS)
DEPTHS = (1, 2, 3, 5, 10, 20, 50)

Row = dict[str, float]
"""Metric values of one question; a metric that does not apply is not in it."""


def question_rows(
    records: Sequence[Record], pipeline: Pipeline, ranked: dict[str, Row] | None = None
) -> dict[str, Row]:
    """By question id; an errored question has no values. `ranked` are the retrieval metrics of its
    last stage, where they are known already."""
    own = [record for record in of_pipeline(records, pipeline) if record.ran is not None]
    if ranked is None:
        ranked = retrieval_values(*_rankings(own, LAST[pipeline]))
    rows = {}
    for record in own:
        values = {name: f(record.golden, record.ran) for name, f in METRICS.items() if record.ran}
        own_ranking = ranked.get(record.golden.id, {})
        rows[record.golden.id] = own_ranking | {n: v for n, v in values.items() if v is not None}
    return rows


STEPS: dict[str, tuple[Stage, Stage]] = {
    "reranking": ("retrieved", "reranked"),
    "correction": ("reranked", "corrected"),
}
"""What each step of the corrective run is said to gain is measured between."""

Staged = dict[Stage, dict[str, Row]]
"""By stage and question id, the retrieval metrics of one pipeline."""


def stage_rows(records: Sequence[Record], stage: Stage) -> dict[str, Row]:
    """By question id, the retrieval metrics of the corrective run at one stage; answerable only."""
    own = of_pipeline(records, "corrective")
    if not any(record.ran and stage in record.ran.stages for record in own):
        return {}
    return retrieval_values(*_rankings(own, stage))


def measure(
    records: Sequence[Record], *, about: dict[str, Any], usd_per_million_tokens: float = 0.0
) -> dict[str, Any]:
    """The content of metrics.json. `about` says what was run: versions, golden file, options.

    Retrieval metrics are over answerable questions, at the stage that a pipeline answers from;
    `stages` has them before and after each step, `steps` what a step gains, `reachable` what a
    ranking of all that is labelled and nothing else would have: where most questions have one right
    passage, P@5 ends far below 1. `errors` counts records without a result. Raises ValueError where
    a question was measured twice: one of both would count for it.
    """
    twice = [key for key, times in Counter(record.key for record in records).items() if times > 1]
    if twice:
        raise ValueError(f"{twice[0]} has several records")
    present = [pipeline for pipeline in PIPELINES if of_pipeline(records, pipeline)]
    staged = {p: _staged(of_pipeline(records, p)) for p in present}
    rows = {p: question_rows(records, p, staged.get(p, {}).get(LAST[p])) for p in PIPELINES}
    tags = sorted({tag for record in records for tag in record.golden.tags})
    return {
        "n": len({record.golden.id for record in records}),
        **about,
        "metrics": {p: means(rows[p].values()) for p in present},
        "intervals": {p: _intervals(list(rows[p].values())) for p in present},
        "applies": {p: _counts(rows[p].values()) for p in present},
        "gain": _gain(rows["corrective"], rows["naive"]),
        "by_tag": {tag: _of_tag(records, rows, present, tag) for tag in tags},
        "stages": {p: _stages(of_pipeline(records, p), staged[p]) for p in present},
        "steps": {step: _step(staged.get("corrective", {}), *ends) for step, ends in STEPS.items()},
        "reachable": _reachable(records),
        "selective": {p: selective(of_pipeline(records, p)) for p in present},
        "latency_ms": {p: _latency(of_pipeline(records, p)) for p in present},
        "cost_usd": {p: _cost(rows[p].values(), usd_per_million_tokens) for p in present},
        "errors": sum(record.ran is None for record in records),
    }


def means(rows: Iterable[Row]) -> dict[str, float]:
    """Of each metric over the questions it applies to; one that applies to none is not there."""
    matrix = _matrix(list(rows))
    return {
        name: round(float(np.nanmean(matrix[:, i])), 6)
        for i, name in enumerate(ALL)
        if not np.isnan(matrix[:, i]).all()
    }


def paired_differences(ours: dict[str, Row], theirs: dict[str, Row]) -> dict[str, dict[str, Any]]:
    """By metric, the mean difference over the questions that have it on both sides, with its 95 %
    paired bootstrap interval."""
    both = sorted(ours.keys() & theirs.keys())
    matrix = _matrix([ours[key] for key in both]) - _matrix([theirs[key] for key in both])
    if not both:
        return {}
    intervals = bootstrap_intervals(matrix)
    return {
        name: {
            "difference": round(float(np.nanmean(matrix[:, i])), 6),
            "interval": [round(end, 6) for end in intervals[i]],
            "n": int((~np.isnan(matrix[:, i])).sum()),
        }
        for i, name in enumerate(ALL)
        if not np.isnan(matrix[:, i]).all()
    }


def _gain(corrective: dict[str, Row], naive: dict[str, Row]) -> dict[str, dict[str, Any]]:
    return paired_differences(corrective, naive) if corrective and naive else {}


def _matrix(rows: Sequence[Row]) -> NDArray[np.float64]:
    return np.array([[row.get(name, math.nan) for name in ALL] for row in rows]).reshape(
        len(rows), len(ALL)
    )


def _intervals(rows: Sequence[Row]) -> dict[str, list[float]]:
    if not rows:
        return {}
    found = bootstrap_intervals(_matrix(rows))
    return {
        name: [round(end, 6) for end in ends]
        for name, ends in zip(ALL, found, strict=True)
        if not math.isnan(ends[0])
    }


def _counts(rows: Iterable[Row]) -> dict[str, int]:
    matrix = _matrix(list(rows))
    return {
        name: n for name, n in zip(ALL, (~np.isnan(matrix)).sum(axis=0).tolist(), strict=True) if n
    }


def _rankings(
    records: Sequence[Record], stage: Stage
) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    own = [record for record in records if record.golden.answerable and record.ran is not None]
    return (
        {r.golden.id: r.ran.stages.get(stage, []) for r in own if r.ran is not None},
        {r.golden.id: dict.fromkeys(r.relevant, 1) for r in own},
    )


def _staged(records: Sequence[Record]) -> Staged:
    return {
        stage: retrieval_values(*_rankings(records, stage))
        for stage in STAGES
        if any(record.ran and stage in record.ran.stages for record in records)
    }


def _stages(records: Sequence[Record], staged: Staged) -> dict[str, Any]:
    stages: dict[str, Any] = {}
    for stage, rows in staged.items():
        stages[stage] = means(rows.values())
        curve = recall_curve(*_rankings(records, stage), DEPTHS)
        stages[stage]["recall_curve"] = dict(zip(map(str, DEPTHS), curve, strict=True))
    return stages


def _step(staged: Staged, before: Stage, after: Stage) -> dict[str, dict[str, Any]]:
    return paired_differences(staged.get(after, {}), staged.get(before, {}))


def _reachable(records: Sequence[Record]) -> dict[str, float]:
    _, relevant = _rankings(records, "retrieved")
    best = {question: list(labelled) for question, labelled in relevant.items()}
    return means(retrieval_values(best, relevant).values())


def _of_tag(
    records: Sequence[Record],
    rows: dict[Pipeline, dict[str, Row]],
    present: Sequence[Pipeline],
    tag: str,
) -> dict[str, Any]:
    ids = {record.golden.id for record in records if tag in record.golden.tags}
    of_tag = {p: {key: row for key, row in rows[p].items() if key in ids} for p in present}
    return {"n": len(ids)} | {p: means(of_tag[p].values()) for p in present}


def _latency(records: Sequence[Record]) -> dict[str, Any]:
    ran = [record.ran for record in records if record.ran is not None]
    if not ran:
        return {}
    p50, p95 = np.percentile([one.total_ms for one in ran], [50, 95])
    nodes = sorted({node for one in ran for node in one.node_ms})
    by_node = {
        node: round(float(np.mean([one.node_ms.get(node, 0.0) for one in ran])), 3)
        for node in nodes
    }
    return {"p50": round(float(p50), 1), "p95": round(float(p95), 1), "mean_by_node": by_node}


def _cost(rows: Iterable[Row], usd_per_million_tokens: float) -> float:
    return sum(row["tokens"] for row in rows) * usd_per_million_tokens / 1e6
