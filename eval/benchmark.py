"""Measures a retrieval pipeline on a BEIR folder, and says what it was measured with."""

import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from eval.corpora import ensure_base
from eval.datasets import Dataset, Side, load_beir
from eval.retrieval import Pipeline, Ranked, hit, ndcg, rank, recall
from eval.statistics import bootstrap_interval
from graph.compose import compose_services
from graph.settings import GraphSettings
from ingest.compose import Corpus, open_index
from ingest.errors import ConfigurationError
from ingest.scope import LOCAL
from nodes.ports import Reranker

Metric = Callable[[Sequence[str], dict[str, int], int], float]

METRICS: dict[str, tuple[Metric, int]] = {
    "nDCG@10": (ndcg, 10),
    "hit@1": (hit, 1),
    "hit@3": (hit, 3),
    "R@5": (recall, 5),
}
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

    What was embedded before, also by a run that was cut short, is taken from the data folder.
    Raises ConfigurationError for a folder without questions.
    """
    dataset = load_beir(folder, split=split, side=side)
    if not dataset.questions[:limit]:
        raise ConfigurationError(f"{folder} has no judged question on {split}, side {side}")
    async with open_index(settings) as corpus:
        base = await ensure_base(corpus, dataset)
        reranker = compose_services(settings, corpus)[0].reranker
        ranked = await _ranked(corpus, reranker, base, dataset, pipeline, limit, settings)
        parts = await _parts(settings, corpus, base, pipeline)
    return {
        "dataset": dataset.name,
        "pipeline": pipeline,
        "n": len(ranked),
        **_metrics(ranked),
        "latency_ms": _latency(ranked),
        "parts": parts | {"split": {"qrels": split, "side": side, **settings.split.model_dump()}},
    }


async def _ranked(
    corpus: Corpus,
    reranker: Reranker,
    base: str,
    dataset: Dataset,
    pipeline: Pipeline,
    limit: int | None,
    settings: GraphSettings,
) -> list[Ranked]:
    questions = dataset.questions[:limit]
    # Loading the model is no part of a question's time.
    await corpus.embedder.load()
    ranked = []
    for n, question in enumerate(questions, start=1):
        ranked.append(
            await rank(
                corpus.index,
                reranker,
                base,
                question,
                pipeline,
                candidates=settings.retrieve.candidates,
            )
        )
        if n % EVERY == 0 or n == len(questions):
            print(f"{dataset.name}: {n} of {len(questions)} questions", file=sys.stderr, flush=True)
    return ranked


def _metrics(ranked: Sequence[Ranked]) -> dict[str, Any]:
    """Means over the questions with their 95 % bootstrap intervals."""
    means, intervals = {}, {}
    for name, (metric, k) in METRICS.items():
        values = [metric(one.documents, one.question.relevant, k) for one in ranked]
        means[name] = round(float(np.mean(values)), 4)
        intervals[name] = [round(end, 4) for end in bootstrap_interval(values)]
    return {"metrics": means, "intervals": intervals}


def _latency(ranked: Sequence[Ranked]) -> dict[str, float]:
    p50, p95 = np.percentile([one.ms for one in ranked], [50, 95])
    return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


async def _parts(
    settings: GraphSettings, corpus: Corpus, base: str, pipeline: Pipeline
) -> dict[str, Any]:
    (known,) = [found for found in await corpus.bases.bases(LOCAL) if found.name == base]
    rerank = settings.rerank
    named = f"{rerank.kind} {rerank.model or ''}".strip() + f", weight {rerank.weight:.3g}"
    return {
        "embedder": known.embedder,
        "sparse": known.sparse,
        "reranker": named if pipeline == "rerank" else None,
        "versions": {
            "index": await corpus.index.version(LOCAL, base),
            **{name: version(name) for name in PACKAGES},
        },
    }
