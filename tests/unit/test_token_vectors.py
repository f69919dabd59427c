"""Token vectors: computed once, in the order asked for, and never more than there is room for."""

import numpy as np
import pytest

from graph.adapters.token_vectors import TokenVectors, max_sim
from tests.fakes import HashingEmbedder, a_chunk

CHUNKS = [a_chunk(f"c{n}", f"number{n} of the passages") for n in range(6)]


async def test_a_passage_is_computed_once(embedder: HashingEmbedder) -> None:
    vectors = TokenVectors(embedder, megabytes=1)
    first = await vectors.passages(CHUNKS[:3])
    second = await vectors.passages(CHUNKS[:4])
    computed = [text for batch in embedder.batches for text in batch]
    assert computed == [chunk.embedded_text for chunk in CHUNKS[:4]]
    assert all(a is b for a, b in zip(first, second, strict=False))


async def test_vectors_come_in_the_order_asked_for(embedder: HashingEmbedder) -> None:
    vectors = TokenVectors(embedder, megabytes=1)
    await vectors.passages(CHUNKS[2:4])
    forwards = await vectors.passages(CHUNKS)
    backwards = await vectors.passages(CHUNKS[::-1])
    assert [id(v) for v in backwards] == [id(v) for v in forwards[::-1]]
    assert await vectors.passages([]) == []


async def test_a_chunk_asked_for_twice_comes_twice(embedder: HashingEmbedder) -> None:
    vectors = TokenVectors(embedder, megabytes=1)
    assert len(await vectors.passages([CHUNKS[0], CHUNKS[1], CHUNKS[0]])) == 3


async def test_offsets_are_those_of_the_chunks_own_text(embedder: HashingEmbedder) -> None:
    chunk = a_chunk("Title", "Refunds take days.", heading="A > B")
    (vectors,) = await TokenVectors(embedder, megabytes=1).passages([chunk])
    own = [chunk.text[a:b] for a, b in vectors.offsets if a >= 0]
    assert own == ["Refunds", "take", "days"]
    assert sum(a < 0 for a, _ in vectors.offsets) == 3


async def test_memory_is_bounded_and_the_least_used_go_first(embedder: HashingEmbedder) -> None:
    size = (await TokenVectors(embedder, megabytes=1).passages(CHUNKS[:1]))[0].nbytes
    vectors = TokenVectors(embedder, megabytes=1)
    room = 1_000_000 // size
    many = [a_chunk(f"m{n:04}", "number of the passages") for n in range(room + 50)]
    for start in range(0, len(many), 20):
        await vectors.passages([many[0], *many[start : start + 20]])
    kept = vectors._kept
    assert sum(one.nbytes for one in kept.values()) <= 1_000_000
    assert vectors._size == sum(one.nbytes for one in kept.values())
    assert "m0000" in kept
    assert "m0001" not in kept
    assert many[-1].chunk_id in kept


def test_max_sim_by_hand() -> None:
    question = np.array([[1, 0], [0, 1]], np.float32)
    passage = np.array([[0.6, 0.8], [1, 0]], np.float32)
    assert max_sim(question, passage).tolist() == pytest.approx([1.0, 0.8])
    assert max_sim(question, np.zeros((0, 2), np.float32)).tolist() == [0, 0]
    assert max_sim(np.zeros((0, 2), np.float32), passage).tolist() == []
