"""A passage's token vectors, a byte for each dimension, and the port of what keeps them."""

import asyncio
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ingest.documents import Chunk
from ingest.ports import Embedder, Encoded, StoredChunk, Vector

SLICE = 256
"""Passages encoded in one call: the vectors of one take 230 KB until they are compressed."""

AT_ONCE = 4_096
"""Passages of one write whose token vectors are held in memory, 240 MB. A document that is larger
has the rest computed when it is asked for."""

_HEAD = struct.Struct("<II")


@dataclass(frozen=True)
class PassageVectors:
    """Unit vectors of the tokens: `codes` (n, dimension) times `scales` (n,).

    `offsets` (n, 2) are code points of the chunk's own text; tokens of the title and heading have
    negative ones. Rounding changes a cosine by less than 0.01.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    offsets: NDArray[np.int32]

    @property
    def tokens(self) -> Vector:
        """Shape (n, dimension)."""
        return np.multiply(self.codes, self.scales[:, None], dtype=np.float32)

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes + self.scales.nbytes + self.offsets.nbytes)

    def to_bytes(self) -> bytes:
        arrays = (self.codes, self.scales, self.offsets)
        return _HEAD.pack(*self.codes.shape) + b"".join(array.tobytes() for array in arrays)

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """Views of `stored`, nothing is copied. Raises ValueError for another length."""
        if len(stored) < _HEAD.size:
            raise ValueError("token vectors without a head")
        n, dimension = _HEAD.unpack_from(stored)
        codes, scales = _HEAD.size, _HEAD.size + n * dimension
        if len(stored) != scales + n * 12:
            raise ValueError(f"{len(stored)} bytes do not hold {n} vectors of {dimension}")
        return cls(
            np.frombuffer(stored, np.int8, n * dimension, codes).reshape(n, dimension),
            np.frombuffer(stored, np.float32, n, scales),
            np.frombuffer(stored, np.int32, 2 * n, scales + 4 * n).reshape(n, 2),
        )


class PassageVectorStore(Protocol):
    """Keeps token vectors by chunk id, for one embedder: those of another are not found.

    What is not there is computed when it is asked for, so that nothing depends on it but time.
    Raises DependencyError when it cannot do its work.
    """

    @property
    def keeps(self) -> bool:
        """Whether new passages are to be kept."""

    async def put(self, chunks: Sequence[StoredChunk], vectors: Sequence[PassageVectors]) -> None:
        """Durable when it returns; the same chunk id replaces. `vectors` may be fewer."""

    async def get(self, chunk_ids: Sequence[str]) -> dict[str, PassageVectors]: ...

    async def count(self, tenant: str, knowledge_base: str) -> int: ...

    async def delete_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None: ...

    async def delete_knowledge_base(self, tenant: str, knowledge_base: str) -> None: ...

    def close(self) -> None: ...


def compressed(encoded: Encoded, chunk: Chunk) -> PassageVectors:
    """A code is a whole number from -127 to 127; the scale is the largest value over 127."""
    scales = np.abs(encoded.tokens).max(axis=1, initial=0.0) / 127
    codes = np.rint(encoded.tokens / np.maximum(scales, 1e-12)[:, None])
    shift = len(chunk.embedded_text) - len(chunk.text)
    return PassageVectors(
        codes.astype(np.int8),
        scales.astype(np.float32),
        (encoded.offsets - shift).astype(np.int32),
    )


def all_compressed(encoded: Sequence[Encoded], chunks: Sequence[Chunk]) -> list[PassageVectors]:
    return [compressed(one, chunk) for one, chunk in zip(encoded, chunks, strict=True)]


async def embedded(
    embedder: Embedder, chunks: Sequence[Chunk], *, tokens: bool
) -> tuple[Vector, list[PassageVectors]]:
    """Dense vectors of all chunks and, of the first AT_ONCE where `tokens`, token vectors: both
    of one pass. The longest come first, so that little is padded."""
    if not tokens or not chunks:
        return await embedder.embed([chunk.embedded_text for chunk in chunks]), []
    order = sorted(range(len(chunks)), key=lambda i: -len(chunks[i].embedded_text))
    dense: dict[int, Vector] = {}
    kept: dict[int, PassageVectors] = {}
    for start in range(0, len(order), SLICE):
        part = order[start : start + SLICE]
        encoded = await embedder.encode([chunks[i].embedded_text for i in part], bulk=True)
        dense |= {i: one.sentence for i, one in zip(part, encoded, strict=True)}
        held = [n for n, i in enumerate(part) if i < AT_ONCE]
        few = await asyncio.to_thread(
            all_compressed, [encoded[n] for n in held], [chunks[part[n]] for n in held]
        )
        kept |= {part[n]: vectors for n, vectors in zip(held, few, strict=True)}
    rows = np.asarray([dense[i] for i in range(len(chunks))], dtype=np.float32)
    return rows, [kept[i] for i in range(len(kept))]
