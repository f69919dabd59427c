"""Retrieval on a dataset, stage by stage: which documents come first, and how good that is."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eval.datasets import Question
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.fusion import best_first, min_max, rrf
from ingest.index import Index
from ingest.scope import LOCAL
from nodes.ports import Reranker

Pipeline = Literal["dense", "bm25", "rrf", "blend", "rerank", "corrective"]

MEASURES = {
    "nDCG@10": "nDCG@10",
    "hit@1": "Success@1",
    "hit@3": "Success@3",
    "P@3": "P@3",
    "P@30": "P@30",
    "R@3": "R@3",
    "R@5": "R@5",
    "RR@3": "RR@3",
    "AP": "AP",
}
"""By the names of this project, those of ir_measures: what the published figures are given in."""


@dataclass(frozen=True)
class Ranked:
    """Document ids, best first, for one question; `ms` is the time it took."""

    question: Question
    documents: list[str]
    ms: float


async def rank(
    index: Index,
    reranker: Reranker,
    base: str,
    question: Question,
    pipeline: Pipeline,
    *,
    candidates: int = 50,
    exact: bool = False,
) -> Ranked:
    """One search, ordered by the scores of the pipeline."""
    clock = time.perf_counter()
    found = await index.search(
        LOCAL, base, question.text, [question.text], limit=candidates, filters=Filters(),
        exact=exact,
    )  # fmt: skip
    if pipeline == "rerank":
        found = await reranker.rerank(question.text, found)
    order = _order(found, pipeline)
    ms = 1000 * (time.perf_counter() - clock)
    return Ranked(question, documents_of(order), ms)


def documents_of(candidates: Sequence[Candidate]) -> list[str]:
    """A document's rank is that of its best chunk."""
    return list(dict.fromkeys(candidate.chunk.metadata["source"] for candidate in candidates))


def retrieval_values(ranked: Sequence[Ranked]) -> dict[str, list[float]]:
    """By the names of MEASURES, a value in [0, 1] for each question, in order; 0 for one without
    a document. By trec_eval's definitions, computed by ir_measures: linear gains, and P@k divides
    by k however few were found."""
    import ir_measures

    measures: dict[Any, str] = {ir_measures.parse_measure(m): n for n, m in MEASURES.items()}
    # trec_eval sorts by score and breaks ties by id: the place in the ranking is the score.
    runs = {
        str(n): {document: float(-place) for place, document in enumerate(one.documents)}
        for n, one in enumerate(ranked)
        if one.documents
    }
    qrels = {str(n): dict(one.question.relevant) for n, one in enumerate(ranked)}
    values = {name: [0.0] * len(ranked) for name in MEASURES}
    for metric in ir_measures.iter_calc(list(measures), qrels, runs):
        values[measures[metric.measure]][int(metric.query_id)] = float(metric.value)
    return values


def _order(found: list[Candidate], pipeline: Pipeline) -> list[Candidate]:
    by_id = {candidate.chunk.chunk_id: candidate for candidate in found}
    scores = _scores(found, pipeline)
    return [by_id[key] for key in best_first(scores)]


def _scores(found: list[Candidate], pipeline: Pipeline) -> dict[str, float]:
    dense = {c.chunk.chunk_id: c.scores["dense"] for c in found}
    bm25 = {c.chunk.chunk_id: c.scores["bm25"] for c in found}
    if pipeline == "dense":
        return dense
    if pipeline == "bm25":
        return min_max(bm25)
    if pipeline == "rrf":
        matching = {key: score for key, score in bm25.items() if score > 0}
        return rrf([best_first(dense), best_first(matching)])
    name = "rerank" if pipeline == "rerank" else "fused"
    return {c.chunk.chunk_id: c.scores[name] for c in found}
