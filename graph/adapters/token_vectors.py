"""Token vectors of passages, computed once and kept in a bounded cache."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.documents import Chunk
from ingest.ports import Embedder, Encoded, Vector


@dataclass(frozen=True)
class PassageVectors:
    """A passage's vectors in half precision; `offsets` are code points of the chunk's own text.

    Tokens of the title and heading have negative offsets.
    """

    sentence: NDArray[np.float16]
    tokens: NDArray[np.float16]
    offsets: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        return int(self.sentence.nbytes + self.tokens.nbytes + self.offsets.nbytes)


class TokenVectors:
    """Vectors by chunk id; the least recently used go when `megabytes` are full.

    An id stands for one text: it is made of the document's revision, a web page's of its text.
    """

    def __init__(self, embedder: Embedder, *, megabytes: int) -> None:
        self._embedder = embedder
        self._limit = megabytes * 1_000_000
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, PassageVectors] = OrderedDict()

    async def question(self, text: str) -> Encoded:
        return (await self._embedder.encode([text]))[0]

    async def passages(self, chunks: Sequence[Chunk]) -> list[PassageVectors]:
        """In the order given. What is not kept is computed in one batch."""
        found = {chunk.chunk_id: self._get(chunk) for chunk in chunks}
        missing = [chunk for chunk in chunks if found[chunk.chunk_id] is None]
        encoded = await self._embedder.encode([chunk.embedded_text for chunk in missing])
        for chunk, one in zip(missing, encoded, strict=True):
            found[chunk.chunk_id] = self._keep(chunk, one)
        return [vectors for chunk in chunks if (vectors := found[chunk.chunk_id]) is not None]

    def _get(self, chunk: Chunk) -> PassageVectors | None:
        with self._lock:
            vectors = self._kept.get(chunk.chunk_id)
            if vectors is not None:
                self._kept.move_to_end(chunk.chunk_id)
            return vectors

    def _keep(self, chunk: Chunk, encoded: Encoded) -> PassageVectors:
        shift = len(chunk.embedded_text) - len(chunk.text)
        vectors = PassageVectors(
            encoded.sentence.astype(np.float16),
            encoded.tokens.astype(np.float16),
            (encoded.offsets - shift).astype(np.int32),
        )
        with self._lock:
            if chunk.chunk_id not in self._kept:
                self._kept[chunk.chunk_id] = vectors
                self._size += vectors.nbytes
            while self._size > self._limit and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].nbytes
        return vectors


def max_sim(question: Vector, tokens: Vector) -> Vector:
    """For each question token the best cosine with a passage token: shape (question tokens,)."""
    if not len(question) or not len(tokens):
        return np.zeros(len(question), dtype=np.float32)
    return np.asarray((question @ tokens.T).max(axis=1), dtype=np.float32)
