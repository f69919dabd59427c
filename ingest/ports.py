"""What the index needs from outside: an embedder, a chunk store, and records (ingest.records)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.documents import Chunk
from ingest.filters import Filters
from ingest.records import DocumentRecord as DocumentRecord
from ingest.records import KnowledgeBase as KnowledgeBase
from ingest.records import Records as Records
from ingest.scope import Scope

Vector = NDArray[np.float32]

Role = Literal["question", "passage"]
"""What a text is to be compared as: some models see the two differently."""


@dataclass(frozen=True)
class Encoded:
    """One text as the model sees it.

    `sentence` has shape (dimension,), `tokens` (n, dimension); both have unit length rows.
    `offsets` (n, 2) are the code point ranges of the tokens in the text.
    """

    sentence: Vector
    tokens: Vector
    offsets: NDArray[np.int32]


class Embedder(Protocol):
    """Turns text into vectors. Loading is lazy: nothing is read before the first call."""

    @property
    def fingerprint(self) -> str:
        """Names model and weights; vectors of different fingerprints never meet."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    def count_tokens(self, texts: list[str]) -> list[int]: ...

    async def load(self) -> None:
        """Raises ModelPackageError when the weights are missing or altered."""

    async def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Vector:
        """Shape (len(texts), dimension), unit length. Concurrent short calls share a batch."""

    async def encode(
        self, texts: Sequence[str], *, role: Role = "passage", bulk: bool = False
    ) -> list[Encoded]:
        """Sentence and token vectors, for late interaction; `bulk` lets questions go first."""


@dataclass(frozen=True)
class SparseVector:
    indices: list[int]
    values: list[float]


class SparseEncoder(Protocol):
    @property
    def fingerprint(self) -> str: ...

    def document(self, text: str) -> SparseVector: ...

    def query(self, text: str) -> SparseVector: ...


@dataclass(frozen=True)
class Encoders:
    """What made the vectors of a base: both fingerprints, and the dense dimension."""

    embedder: str
    sparse: str
    dimension: int


@dataclass(frozen=True)
class StoredChunk:
    """A chunk with its vectors and its place: what the store keeps."""

    chunk: Chunk
    tenant: str
    knowledge_base: str
    acl: list[str]
    dense: Vector
    sparse: SparseVector


@dataclass(frozen=True)
class QueryVectors:
    dense: Vector
    sparse: SparseVector


@dataclass(frozen=True)
class Hit:
    """A retrieved chunk with the scores of both arms, whichever found it.

    `dense` is a cosine in [-1, 1]; `bm25` is >= 0, and 0 where no term is shared.
    """

    chunk: Chunk
    dense: float
    bm25: float


class ChunkStore(Protocol):
    """Holds chunks; every read is limited to a scope and a knowledge base.

    Safe under concurrent calls. Raises DependencyError when it cannot answer.
    """

    async def check(self, tenant: str, knowledge_bases: Sequence[str]) -> None:
        """Raises EmbedderMismatch for a base that is known to hold another embedder's vectors."""

    async def upsert(self, chunks: Sequence[StoredChunk]) -> None:
        """Durable when it returns; the same chunk_id replaces."""

    async def search(
        self,
        scope: Scope,
        knowledge_base: str,
        query: QueryVectors,
        *,
        limit: int,
        filters: Filters,
        exact: bool = False,
    ) -> list[Hit]:
        """The union of the best `limit` hits of each arm, in no particular order."""

    async def score(
        self, scope: Scope, knowledge_base: str, query: QueryVectors, chunk_ids: Sequence[str]
    ) -> dict[str, tuple[float, float]]:
        """(dense, bm25) of the named chunks; the unknown and the forbidden are left out."""

    async def read_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> list[StoredChunk]:
        """The chunks of a revision in order, with their vectors; for copying, not for answers."""

    async def set_acl(
        self, tenant: str, knowledge_base: str, document_id: str, acl: Sequence[str]
    ) -> None:
        """Who may find the chunks of all its revisions from now on; durable when it returns."""

    async def delete_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None: ...

    async def delete_knowledge_base(self, tenant: str, knowledge_base: str) -> None: ...

    async def count(self, tenant: str, knowledge_base: str) -> int: ...

    async def optimize(self) -> None:
        """Builds what makes search fast; run after ingestion."""

    async def close(self) -> None: ...


class DraftStore(ChunkStore, Protocol):
    """Holds chunks that nobody searches yet."""

    async def took_place(self, tenant: str, knowledge_base: str) -> bool:
        """Whether it is known that an earlier `take_place` was done."""

    async def take_place(self, live: ChunkStore, tenant: str, knowledge_base: str) -> None:
        """Its chunks of the base are the live ones from now on; the old ones are deleted."""
