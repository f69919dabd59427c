"""Measures a retrieval pipeline on a BEIR folder, and says what it was measured with."""

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from eval.corpora import ensure_base
from eval.corrective import WholeRun, whole_run
from eval.datasets import Question, Side, load_beir
from eval.retrieval import Pipeline, Ranked, rank, retrieval_values
from eval.runner import deterministic
from eval.statistics import bootstrap_interval
from graph.compose import Service, open_graph
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from ingest.scope import LOCAL

PACKAGES = ("qdrant-edge-py", "sentence-transformers", "torch")
EVERY = 50
"""Questions between two lines of progress."""


async def benchmark(
    settings: GraphSettings,
    folder: Path,
    pipeline: Pipeline,
    *,
    split: str = "test",
    side: Side = "all",
    limit: int | None = None,
) -> dict[str, Any]:
    """The report of one pipeline on one dataset; `limit` keeps the first questions.

    What was embedded before, also by a run that was cut short, is taken from the data folder; the
    questions are asked anew. Searches are exact and no deadline ends a run, so that two runs agree.
    Raises ConfigurationError for a folder without questions.
    """
    dataset = load_beir(folder, split=split, side=side)
    questions = dataset.questions[:limit]
    if not questions:
        raise ConfigurationError(f"{folder} has no judged question on {split}, side {side}")
    async with open_graph(deterministic(settings)) as service:
        base = await ensure_base(service.corpus, dataset)
        # Loading the model is no part of a question's time.
        await service.corpus.embedder.load()
        ranked: list[Ranked] = []
        runs: list[WholeRun] = []
        for n, question in enumerate(questions, start=1):
            if pipeline == "corrective":
                runs.append(await whole_run(service, base, question))
                ranked.append(runs[-1].ranked)
            else:
                ranked.append(await searched(service, base, question, pipeline))
            if n % EVERY == 0 or n == len(questions):
                said = f"{dataset.name}: {n} of {len(questions)} questions"
                print(said, file=sys.stderr, flush=True)
        described = await parts(service, base, pipeline)
    values = retrieval_values(ranked)
    return {
        "dataset": dataset.name,
        "pipeline": pipeline,
        "n": len(ranked),
        **means(values),
        "latency_ms": latency([one.ms for one in ranked]),
        **(_of_runs(runs, values) if runs else {}),
        "parts": described
        | {"split": {"qrels": split, "side": side, **settings.split.model_dump()}},
    }


def means(values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Means over the questions with their 95 % bootstrap intervals."""
    return {
        "metrics": {name: round(float(np.mean(own)), 4) for name, own in values.items()},
        "intervals": {
            name: [round(end, 4) for end in bootstrap_interval(own)] for name, own in values.items()
        },
    }


def latency(ms: Sequence[float]) -> dict[str, float]:
    """Milliseconds for one question or row."""
    p50, p95 = np.percentile(ms, [50, 95])
    return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


async def searched(service: Service, base: str, question: Question, pipeline: Pipeline) -> Ranked:
    retrieve = service.settings.retrieve
    return await rank(
        service.corpus.index,
        service.services.reranker,
        base,
        question,
        pipeline,
        candidates=retrieve.candidates,
        exact=retrieve.exact,
    )


def _of_runs(runs: Sequence[WholeRun], values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """What grading and loops did: the paired gain over the same run's first search, reranked."""
    before = retrieval_values([run.first for run in runs])
    gains = {
        name: [b - a for a, b in zip(before[name], own, strict=True)]
        for name, own in values.items()
    }
    return {
        "gain_over_first_search": means(gains),
        "runs": {
            "answered": round(float(np.mean([run.answered for run in runs])), 4),
            "loops": round(float(np.mean([run.loops for run in runs])), 4),
            "with_history": sum(bool(run.ranked.question.history) for run in runs),
        },
    }


async def parts(service: Service, base: str, pipeline: Pipeline) -> dict[str, Any]:
    known = next(one for one in await service.corpus.bases.bases(LOCAL) if one.name == base)
    rerank = service.settings.rerank
    named = f"{rerank.kind} {rerank.model or ''}".strip() + f", weight {rerank.weight:.3g}"
    graded = {"rewrites": service.settings.budget.rewrites, "keep": rerank.keep,
              "calibration": service.settings.grade.calibration or "shipped"}  # fmt: skip
    return {
        "embedder": known.embedder,
        "sparse": known.sparse,
        "reranker": named if pipeline in ("rerank", "corrective") else None,
        **({"run": graded} if pipeline == "corrective" else {}),
        "versions": {
            "index": await service.corpus.index.version(LOCAL, base),
            **{name: version(name) for name in PACKAGES},
        },
    }
