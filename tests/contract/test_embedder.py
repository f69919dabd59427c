"""What every Embedder must do: the packaged model, and the double that other tests use."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ingest.adapters.sentence_transformer import (
    FILES_SHA256,
    SentenceTransformerEmbedder,
    check_model,
    packaged_model,
)

from ingest.errors import ModelPackageError
from ingest.ports import Embedder
from tests.fakes import HashingEmbedder

ROOT = Path(__file__).parents[2]
TEXTS = ["Refunds take 5 days.", "Übergröße für 3 €", "x"]


@pytest.fixture(params=["minilm", "hashing"])
def any_embedder(request: pytest.FixtureRequest) -> Any:
    if request.param == "minilm":
        return request.getfixturevalue("minilm")
    return request.getfixturevalue("embedder")


@pytest.mark.xdist_group("minilm")
class TestContract:
    async def test_vectors_have_unit_length_and_the_dimension(self, any_embedder: Embedder) -> None:
        vectors = await any_embedder.embed(TEXTS)
        assert vectors.shape == (3, any_embedder.dimension) == (3, 384)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)

    async def test_the_same_text_has_the_same_vector(self, any_embedder: Embedder) -> None:
        alone = await any_embedder.embed([TEXTS[0]])
        beside = await any_embedder.embed([TEXTS[2] * 50, TEXTS[0]])
        assert alone[0] == pytest.approx(beside[1], abs=1e-5)
        assert float(alone[0] @ (await any_embedder.embed([TEXTS[1]]))[0]) < 0.95

    async def test_no_text_gives_an_empty_matrix(self, any_embedder: Embedder) -> None:
        assert (await any_embedder.embed([])).shape == (0, 384)
        assert await any_embedder.encode([]) == []

    async def test_encodes_sentence_tokens_and_offsets(self, any_embedder: Embedder) -> None:
        for text, encoded in zip(TEXTS, await any_embedder.encode(TEXTS), strict=True):
            n = len(encoded.tokens)
            assert n > 0
            assert encoded.sentence.shape == (384,)
            assert (encoded.tokens.shape, encoded.offsets.shape) == ((n, 384), (n, 2))
            assert np.linalg.norm(encoded.tokens, axis=1) == pytest.approx(np.ones(n), abs=1e-5)
            starts, ends = encoded.offsets[:, 0], encoded.offsets[:, 1]
            assert (starts < ends).all()
            assert (starts >= 0).all()
            assert (ends <= len(text)).all()

    async def test_the_sentence_of_encode_is_the_vector_of_embed(
        self, any_embedder: Embedder
    ) -> None:
        (encoded,) = await any_embedder.encode([TEXTS[0]])
        (vector,) = await any_embedder.embed([TEXTS[0]])
        assert encoded.sentence == pytest.approx(vector, abs=1e-4)

    async def test_an_empty_text_has_a_vector_of_unit_length(self, any_embedder: Embedder) -> None:
        (vector,) = await any_embedder.embed([""])
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-5)
        (encoded,) = await any_embedder.encode([""])
        assert encoded.tokens.shape == (0, 384)

    async def test_a_text_beyond_the_window_is_cut_not_refused(
        self, any_embedder: Embedder
    ) -> None:
        (encoded,) = await any_embedder.encode(["word " * 400])
        assert np.isfinite(encoded.tokens).all()

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


@pytest.mark.xdist_group("minilm")
async def test_short_calls_of_the_model_share_a_batch(
    minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sentence_transformers

    await minilm.load()
    encode = sentence_transformers.SentenceTransformer.encode
    batches: list[int] = []

    def counting(self: Any, texts: list[str], **more: Any) -> Any:
        batches.append(len(texts))
        return encode(self, texts, **more)

    monkeypatch.setattr(sentence_transformers.SentenceTransformer, "encode", counting)
    await asyncio.gather(*(minilm.embed([f"question {n}"]) for n in range(12)))
    assert sum(batches) == 12
    assert len(batches) < 12


@pytest.mark.xdist_group("minilm")
async def test_a_question_does_not_wait_for_an_ingestion(
    minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sentence_transformers

    await minilm.load()
    encode = sentence_transformers.SentenceTransformer.encode
    answered = threading.Event()

    def held(self: Any, texts: list[str], **more: Any) -> Any:
        if len(texts) > 1:
            assert answered.wait(20), "the question waited for the ingestion"
        return encode(self, texts, **more)

    monkeypatch.setattr(sentence_transformers.SentenceTransformer, "encode", held)
    bulk = asyncio.create_task(minilm.embed(["passage"] * 33))
    await asyncio.sleep(0)
    await minilm.embed(["question"])
    answered.set()
    assert (await bulk).shape == (33, 384)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The model's files, of which one can be altered: links to the real ones."""
    for name in FILES_SHA256:
        file = tmp_path / "model" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(packaged_model() / name)
    return tmp_path / "model"


def test_the_model_of_this_release_is_accepted(package: Path) -> None:
    check_model(package)


def test_every_file_that_loading_reads_is_checked() -> None:
    """In a process of its own, where nothing is loaded yet."""
    code = (
        "import sys, asyncio\n"
        "from ingest.adapters import sentence_transformer as st\n"
        "folder, names = str(st.packaged_model()) + '/', set()\n"
        "def note(event, details):\n"
        "    if event == 'open' and str(details[0]).startswith(folder):\n"
        "        names.add(str(details[0]).removeprefix(folder))\n"
        "st.check_model = lambda folder: None\n"
        "sys.addaudithook(note)\n"
        "embedder = st.SentenceTransformerEmbedder()\n"
        "asyncio.run(embedder.load())\n"
        "embedder.count_tokens(['a'])\n"
        "embedder.close()\n"
        "print(*names - {'README.md'}, sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    read = set(done.stdout.split())
    assert "1_Pooling/config.json" in read
    assert read <= set(FILES_SHA256)


@pytest.mark.parametrize("name", FILES_SHA256)
@pytest.mark.parametrize("state", ["altered", "missing", "a folder"])
def test_an_altered_package_is_refused_before_the_tokenizer_is_read(
    package: Path, name: str, state: str
) -> None:
    (package / name).unlink()
    if state == "altered":
        (package / name).write_bytes(b"{}")
    elif state == "a folder":
        (package / name).mkdir()
    embedder = SentenceTransformerEmbedder(package)
    expected = "altered" if state == "altered" else "incomplete"
    with pytest.raises(ModelPackageError, match=f"{expected}: {name}"):
        embedder.count_tokens(["text"])
    embedder.close()


async def test_an_altered_package_is_refused_before_the_model_is_loaded(package: Path) -> None:
    (package / "1_Pooling" / "config.json").unlink()
    (package / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    embedder = SentenceTransformerEmbedder(package)
    with pytest.raises(ModelPackageError, match=r"altered: 1_Pooling/config\.json"):
        await embedder.load()
    embedder.close()


async def test_nothing_is_read_before_the_first_call(tmp_path: Path) -> None:
    embedder = SentenceTransformerEmbedder(tmp_path / "not there")
    assert embedder.dimension == 384
    with pytest.raises(ModelPackageError):
        await embedder.embed(["text"])
    embedder.close()
