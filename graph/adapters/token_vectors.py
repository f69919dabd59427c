"""Token vectors of passages: kept in memory, else read from beside the index, else computed."""

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from ingest.documents import Chunk
from ingest.errors import DependencyError
from ingest.passage_vectors import PassageVectors, PassageVectorStore, all_compressed
from ingest.ports import Embedder, Encoded, Vector

LOG = logging.getLogger(__name__)


class TokenVectors:
    """Vectors by chunk id; the least recently used go when `megabytes` are full.

    An id stands for one text: it is made of the document's revision, a web page's of its text.
    """

    def __init__(
        self, embedder: Embedder, *, megabytes: int, stored: PassageVectorStore | None = None
    ) -> None:
        self._embedder = embedder
        self._stored = stored
        self._limit = megabytes * 1_000_000
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, PassageVectors] = OrderedDict()

    async def question(self, text: str) -> Encoded:
        return (await self._embedder.encode([text], role="question"))[0]

    async def passages(self, chunks: Sequence[Chunk]) -> list[PassageVectors]:
        """In the order given. What is not kept is computed in one batch."""
        found = {chunk.chunk_id: self._get(chunk) for chunk in chunks}
        read = await self._read([key for key, vectors in found.items() if vectors is None])
        found |= {key: self._keep(key, vectors) for key, vectors in read.items()}
        missing = [chunk for chunk in chunks if found[chunk.chunk_id] is None]
        encoded = await self._embedder.encode([chunk.embedded_text for chunk in missing])
        made = await asyncio.to_thread(all_compressed, encoded, missing)
        for chunk, one in zip(missing, made, strict=True):
            found[chunk.chunk_id] = self._keep(chunk.chunk_id, one)
        return [vectors for chunk in chunks if (vectors := found[chunk.chunk_id]) is not None]

    async def _read(self, keys: list[str]) -> dict[str, PassageVectors]:
        if self._stored is None or not keys:
            return {}
        try:
            return await self._stored.get(keys)
        except DependencyError as error:  # computing them gives the same, later
            LOG.warning("token vectors are computed, not read: %s", error.message)
            return {}

    def _get(self, chunk: Chunk) -> PassageVectors | None:
        with self._lock:
            vectors = self._kept.get(chunk.chunk_id)
            if vectors is not None:
                self._kept.move_to_end(chunk.chunk_id)
            return vectors

    def _keep(self, key: str, vectors: PassageVectors) -> PassageVectors:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = vectors
                self._size += vectors.nbytes
            while self._size > self._limit and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].nbytes
        return vectors


def max_sim(question: Vector, tokens: Vector) -> Vector:
    """For each question token the best cosine with a passage token: shape (question tokens,)."""
    if not len(question) or not len(tokens):
        return np.zeros(len(question), dtype=np.float32)
    return np.asarray((question @ tokens.T).max(axis=1), dtype=np.float32)
