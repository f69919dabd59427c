"""An Embedder over a BERT encoder: one mean-pooled vector a text, and one for each token."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.batching import MicroBatcher
from ingest.ports import Encoded, Role, Vector

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BATCH = 32
"""Texts that one call embeds beside others; a longer list goes to the thread of ingestion."""
TOKEN_BATCH = 16
"""Rows per forward pass: small batches waste less on padding."""
QUESTIONS = 64
"""Questions of late that are kept: a run reads its own for search, reranking and grading. At most
50 MB, where each fills the model."""


@dataclass(frozen=True)
class Loaded:
    """A BERT encoder in evaluation mode, and the id that its tokenizer pads with."""

    model: Any
    pad_id: int


class EncoderModel(Protocol):
    """Weights of one release. `prefixes` are put before a text of each role; `language` is the one
    that it was made for, None where there are many."""

    fingerprint: str
    sha256: str
    dimension: int
    max_tokens: int
    prefixes: ClassVar[Mapping[Role, str]]
    language: ClassVar[str | None]

    def check(self) -> None:
        """Reads every byte that `load` may read. Raises ModelPackageError when any is missing or
        altered."""

    def tokenizer(self) -> "Tokenizer":
        """Without truncation and padding. Raises ModelPackageError."""

    def load(self) -> Loaded:
        """Raises ModelPackageError when the weights are missing or altered."""


class TransformerEmbedder:
    """Loads its model on the first call. A sentence is the mean of its tokens, all of unit length.

    Questions and ingestion run in threads of their own, so that a long ingestion does not stand
    before a question.
    """

    def __init__(self, model: EncoderModel) -> None:
        self._source = model
        self.fingerprint = model.fingerprint
        self.dimension = model.dimension
        self.max_tokens = model.max_tokens
        self._model: Loaded | None = None
        self._tokenizer: Tokenizer | None = None
        self._asked: dict[str, Encoded] = {}
        self._loading = threading.Lock()
        self._bulk = ThreadPoolExecutor(1, thread_name_prefix="embed-bulk")
        self._short = MicroBatcher[tuple[str, str], Encoded](self._encode, limit=64, name="embed")

    async def load(self) -> None:
        await self._in_bulk(self._loaded)

    def count_tokens(self, texts: list[str]) -> list[int]:
        encodings = self._loaded_tokenizer().encode_batch_fast(texts, add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    async def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Vector:
        encoded = await self.encode(texts, role=role, bulk=len(texts) > BATCH)
        rows = [one.sentence for one in encoded]
        return np.asarray(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    async def encode(
        self, texts: Sequence[str], *, role: Role = "passage", bulk: bool = False
    ) -> list[Encoded]:
        prefixed = [(self._source.prefixes[role], text) for text in texts]
        if bulk:
            return list(await self._in_bulk(self._encode, prefixed))
        return await (self._short(prefixed) if role == "passage" else self._questions(texts))

    async def _questions(self, texts: Sequence[str]) -> list[Encoded]:
        known = {text: self._asked[text] for text in texts if text in self._asked}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = await self._short([(self._source.prefixes["question"], text) for text in new])
        known |= zip(new, made, strict=True)
        for text, encoded in known.items():
            self._asked.pop(text, None)
            self._asked[text] = encoded
        for text in list(self._asked)[:-QUESTIONS]:
            del self._asked[text]
        return [known[text] for text in texts]

    def close(self) -> None:
        self._short.close()
        self._bulk.shutdown(wait=False)

    async def _in_bulk(self, work: Any, *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._bulk, work, *args)

    def _encode(self, texts: list[tuple[str, str]]) -> list[Encoded]:
        longest_first = sorted(range(len(texts)), key=lambda i: -len(texts[i][1]))
        encoded: dict[int, Encoded] = {}
        for start in range(0, len(texts), TOKEN_BATCH):
            batch = longest_first[start : start + TOKEN_BATCH]
            encoded |= zip(batch, self._forward([texts[i] for i in batch]), strict=True)
        return [encoded[i] for i in range(len(texts))]

    def _forward(self, texts: list[tuple[str, str]]) -> list[Encoded]:
        import torch

        loaded = self._loaded()
        read = self._loaded_tokenizer().encode_batch([prefix + text for prefix, text in texts])
        rows = [_windowed(one.ids, self.max_tokens) for one in read]
        width = max(len(ids) for ids in rows)
        padded = np.full((len(rows), width), loaded.pad_id, dtype=np.int64)
        for row, ids in zip(padded, rows, strict=True):
            row[: len(ids)] = ids
        lengths = [len(ids) for ids in rows]
        mask = np.arange(width)[None, :] < np.asarray(lengths)[:, None]
        with torch.inference_mode():
            hidden = loaded.model(
                input_ids=torch.from_numpy(padded), attention_mask=torch.from_numpy(mask).long()
            ).last_hidden_state.numpy()
        return [
            _encoded(hidden[i, :n], _offsets(read[i].offsets[: n - 1], *texts[i]))
            for i, n in enumerate(lengths)
        ]

    def _loaded(self) -> Loaded:
        with self._loading:
            if self._model is None:
                self._model = self._source.load()
            return self._model

    def _loaded_tokenizer(self) -> "Tokenizer":
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = self._source.tokenizer()
            return self._tokenizer


def _windowed(ids: list[int], limit: int) -> list[int]:
    """What does not fit is left out before the token that ends a text."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def _offsets(spans: list[tuple[int, int]], prefix: str, text: str) -> NDArray[np.int32]:
    """In code points of the text itself: shape (tokens - 1, 2), empty where a token has none of it.

    A subword that begins a word counts the space before it; a place in the text does not."""
    found = np.zeros((len(spans), 2), dtype=np.int32)
    for row, (start, end) in zip(found, spans, strict=True):
        start, end = max(0, start - len(prefix)), max(0, end - len(prefix))
        while start < end and text[start].isspace():
            start += 1
        row[:] = start, end
    return found


def _encoded(rows: Vector, offsets: NDArray[np.int32]) -> Encoded:
    """The sentence is the mean of all; of the tokens, those that stand for a part of the text."""
    real = offsets[:, 1] > offsets[:, 0]
    return Encoded(_unit(rows.mean(axis=0)), _unit(rows[:-1][real]), offsets[real])


def _unit(rows: Vector) -> Vector:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)
