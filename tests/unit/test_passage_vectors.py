"""Token vectors of a passage: what a byte for each dimension keeps, and what it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import passage_vectors
from ingest.passage_vectors import PassageVectors, compressed, embedded
from ingest.ports import Encoded
from tests.fakes import HashingEmbedder, a_chunk


def encoded(n: int, seed: int = 0) -> Encoded:
    rows = np.random.default_rng(seed).normal(size=(n, 384))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    offsets = np.arange(2 * n).reshape(n, 2)
    return Encoded(np.ones(384, np.float32), rows.astype(np.float32), offsets.astype(np.int32))


def test_codes_and_scale_by_hand() -> None:
    rows = np.array([[0.6, -0.8], [0.0, 1.0]], np.float32)
    offsets = np.array([[0, 1], [1, 2]], np.int32)
    vectors = compressed(Encoded(rows[0], rows, offsets), a_chunk("", "ab"))
    assert vectors.codes.tolist() == [[95, -127], [0, 127]]
    assert vectors.scales == pytest.approx([0.8 / 127, 1 / 127])
    assert vectors.tokens == pytest.approx(rows, abs=0.8 / 127 / 2)


@given(st.integers(0, 40), st.integers(0, 5))
def test_what_is_read_is_what_was_written(n: int, seed: int) -> None:
    vectors = compressed(encoded(n, seed), a_chunk("t", "some text"))
    read = PassageVectors.from_bytes(vectors.to_bytes())
    assert (read.codes == vectors.codes).all() and read.codes.shape == (n, 384)
    assert (read.scales == vectors.scales).all()
    assert (read.offsets == vectors.offsets).all()


@given(st.integers(0, 5))
def test_a_cosine_changes_by_less_than_a_hundredth(seed: int) -> None:
    before, asked = encoded(60, seed).tokens, encoded(20, seed + 100).tokens
    after = compressed(encoded(60, seed), a_chunk("t", "text")).tokens
    assert np.abs(asked @ after.T - asked @ before.T).max() < 0.01
    assert np.linalg.norm(after, axis=1) == pytest.approx(np.ones(60), abs=0.01)


@pytest.mark.parametrize("cut", [0, 4, 8, -1])
def test_bytes_of_another_length_are_refused(cut: int) -> None:
    stored = compressed(encoded(3), a_chunk("t", "text")).to_bytes()
    with pytest.raises(ValueError):
        PassageVectors.from_bytes(stored[:cut])


async def test_both_kinds_of_vectors_come_of_one_pass_and_in_order(
    embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_vectors, "SLICE", 3)
    chunks = [a_chunk(f"c{n}", " ".join(["word"] * (n * 5 % 7) + [f"own{n}"])) for n in range(8)]
    dense, tokens = await embedded(embedder, chunks, tokens=True)
    passed = [text for batch in embedder.batches for text in batch]
    assert sorted(passed) == sorted(chunk.embedded_text for chunk in chunks)
    assert dense == pytest.approx(await embedder.embed([c.embedded_text for c in chunks]), abs=1e-6)
    for chunk, vectors, one in zip(
        chunks, tokens, await embedder.encode([c.embedded_text for c in chunks]), strict=True
    ):
        assert (vectors.codes == compressed(one, chunk).codes).all()


async def test_a_very_large_document_keeps_only_the_first(
    embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_vectors, "AT_ONCE", 2)
    chunks = [a_chunk(f"c{n}", "word " * n + "end") for n in range(5)]
    dense, tokens = await embedded(embedder, chunks, tokens=True)
    assert len(dense) == 5
    assert [len(one.codes) for one in tokens] == [2, 3]  # each with its title


async def test_without_token_vectors_passages_are_embedded_alone(embedder: HashingEmbedder) -> None:
    dense, tokens = await embedded(embedder, [a_chunk("a")], tokens=False)
    assert (dense.shape, tokens) == ((1, 384), [])
