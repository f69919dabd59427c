"""What every Reranker must do: late interaction, a cross-encoder, and none."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.adapters.cross_encoder import CrossEncoderReranker
from graph.adapters.late_interaction import LateInteractionReranker, NoReranker
from graph.adapters.token_vectors import TokenVectors
from graph.settings import RerankSettings
from ingest.documents import Candidate
from nodes.ports import Reranker
from tests.fakes import HashingEmbedder, a_candidate
from tests.tiny_models import save_cross_encoder

QUESTION = "How long do refunds take?"
TEXTS = {
    "paid": "Refunds are paid within five days.",
    "leave": "Leave: how long are leave days paid?",
    "long": "refunds take days " * 200,
    "other": "Nothing of the kind, 3 € für Übergröße.",
}


@pytest.fixture(params=["late_interaction", "cross_encoder", "none"])
def reranker(
    request: pytest.FixtureRequest, embedder: HashingEmbedder, tmp_path: Path
) -> Iterator[Any]:
    if request.param == "late_interaction":
        vectors = TokenVectors(embedder, megabytes=8)
        yield LateInteractionReranker(vectors, weight=1 / 3)
    elif request.param == "cross_encoder":
        folder = save_cross_encoder(tmp_path / "model")
        with closing(CrossEncoderReranker(RerankSettings(model=str(folder)))) as made:
            yield made
    else:
        yield NoReranker()


def candidates() -> list[Candidate]:
    return [
        a_candidate(name, text, fused=1 - n / 10, dense=0.4, bm25=2.0)
        for n, (name, text) in enumerate(TEXTS.items())
    ]


def ids(found: list[Candidate]) -> list[str]:
    return [candidate.chunk.chunk_id for candidate in found]


async def test_each_candidate_once_and_no_other(reranker: Reranker) -> None:
    assert sorted(ids(await reranker.rerank(QUESTION, candidates()))) == sorted(TEXTS)


async def test_nothing_to_order_is_nothing(reranker: Reranker) -> None:
    assert await reranker.rerank(QUESTION, []) == []


async def test_the_best_comes_first_by_a_score_in_0_1(reranker: Reranker) -> None:
    ordered = await reranker.rerank(QUESTION, candidates())
    scores = [c.scores.get("rerank", c.scores["fused"]) for c in ordered]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_chunks_and_the_scores_so_far_stay(reranker: Reranker) -> None:
    before = candidates()
    after = {c.chunk.chunk_id: c for c in await reranker.rerank(QUESTION, before)}
    assert before == candidates()
    for candidate in before:
        found = after[candidate.chunk.chunk_id]
        assert found.chunk == candidate.chunk
        assert candidate.scores.items() <= found.scores.items()


async def test_the_same_again_and_beside_other_questions(reranker: Reranker) -> None:
    alone = await reranker.rerank(QUESTION, candidates())
    beside = await asyncio.gather(
        *(reranker.rerank(question, candidates()) for question in ("days?", QUESTION, "leave"))
    )
    assert ids(beside[1]) == ids(alone)
    for one, other in zip(alone, beside[1], strict=True):
        assert other.scores == pytest.approx(one.scores, abs=1e-5)


async def test_web_results_without_scores_are_ordered_too(reranker: Reranker) -> None:
    found = [
        Candidate(a_candidate(name, text).chunk, {}, url=f"https://example.org/{name}")
        for name, text in TEXTS.items()
    ]
    assert sorted(ids(await reranker.rerank(QUESTION, found))) == sorted(TEXTS)
