"""Retrieval on a dataset, stage by stage: which documents come first, and how good that is."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eval.datasets import Question
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.fusion import best_first, min_max, rrf
from ingest.index import Index
from ingest.scope import LOCAL
from nodes.ports import Reranker

Pipeline = Literal["dense", "bm25", "rrf", "blend", "rerank", "corrective"]


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
) -> Ranked:
    """A document's rank is that of its best chunk."""
    clock = time.perf_counter()
    found = await index.search(
        LOCAL, base, question.text, [question.text], limit=candidates, filters=Filters()
    )
    if pipeline == "rerank":
        found = await reranker.rerank(question.text, found)
    order = _order(found, pipeline)
    ms = 1000 * (time.perf_counter() - clock)
    sources = [candidate.chunk.metadata["source"] for candidate in order]
    return Ranked(question, list(dict.fromkeys(sources)), ms)


def ndcg(documents: Sequence[str], relevant: dict[str, int], k: int = 10) -> float:
    """nDCG@k with linear gains, as trec_eval's ndcg_cut; in [0, 1]."""
    gains = [relevant.get(document, 0) for document in documents[:k]]
    ideal = sorted(relevant.values(), reverse=True)[:k]
    best = _dcg(ideal)
    return _dcg(gains) / best if best else 0.0


def hit(documents: Sequence[str], relevant: dict[str, int], k: int = 1) -> float:
    """1 where one of the first k is relevant."""
    return float(any(document in relevant for document in documents[:k]))


def recall(documents: Sequence[str], relevant: dict[str, int], k: int = 5) -> float:
    """The share of the relevant documents that is among the first k; 0 where none is relevant."""
    found = sum(document in relevant for document in documents[:k])
    return found / len(relevant) if relevant else 0.0


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


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
