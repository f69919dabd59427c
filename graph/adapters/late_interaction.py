"""Late interaction over the embedder's own token vectors, blended with the retrieval order."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph.adapters.token_vectors import TokenVectors, max_sim
from ingest.documents import Candidate
from ingest.fusion import best_first, blend


class LateInteractionReranker:
    """ColBERT's MaxSim (Khattab and Zaharia, SIGIR 2020), with the embedder's token vectors.

    `late_interaction` is the mean over question tokens, in [-1, 1]; `rerank` the min-max blend of
    it (with `weight`) and of the retrieval order, in [0, 1], for ordering only.
    """

    def __init__(self, vectors: TokenVectors, *, weight: float) -> None:
        self._vectors = vectors
        self._weight = weight

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        if not candidates:
            return []
        asked, passages = await asyncio.gather(
            self._vectors.question(question),
            self._vectors.passages([candidate.chunk for candidate in candidates]),
        )
        late = await asyncio.to_thread(
            lambda: {
                candidate.chunk.chunk_id: float(np.mean(max_sim(asked.tokens, vectors.tokens)))
                if len(asked.tokens)
                else 0.0
                for candidate, vectors in zip(candidates, passages, strict=True)
            }
        )
        fused = {c.chunk.chunk_id: c.scores["fused"] for c in candidates if "fused" in c.scores}
        order = blend([(self._weight, late), (1 - self._weight, fused)]) if fused else late
        by_id = {candidate.chunk.chunk_id: candidate for candidate in candidates}
        return [
            replace(
                by_id[key],
                scores={
                    **by_id[key].scores,
                    "late_interaction": late[key],
                    "rerank": order[key],
                },
            )
            for key in best_first(order)
        ]


class NoReranker:
    """Keeps the order of retrieval."""

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        return list(candidates)
