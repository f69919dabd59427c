"""What the index needs from outside: an embedder, a chunk store, document records."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.documents import Chunk
from ingest.filters import Filters
from ingest.scope import Scope

Vector = NDArray[np.float32]


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

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Shape (len(texts), dimension), unit length. Concurrent short calls share a batch."""

    async def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Sentence and token vectors, for late interaction."""


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


@dataclass(frozen=True)
class DocumentRecord:
    """What is known of a document. `status` is current, superseded or draft."""

    document_id: str
    source: str
    title: str
    revision: str
    content_sha256: str
    media_type: str
    chunks: int
    updated_at: str
    status: str = "current"
    metadata: dict[str, str] = field(default_factory=dict)
    duplicate_of: str | None = None


@dataclass(frozen=True)
class KnowledgeBase:
    name: str
    description: str
    created_at: str
    embedder: str
    sparse: str
    web: bool = False


class Records(Protocol):
    """Names the live revision of each document, and keeps its text. Calls block briefly.

    A revision is `writing`, then `live`, then `dead`; only live ones answer.
    """

    def create_knowledge_base(self, tenant: str, base: KnowledgeBase) -> None: ...

    def knowledge_bases(self, tenant: str) -> list[KnowledgeBase]: ...

    def set_encoders(self, tenant: str, name: str, embedder: str, sparse: str) -> None:
        """Notes that the base was embedded anew. Raises UnknownKnowledgeBase."""

    def delete_knowledge_base(self, tenant: str, name: str) -> None:
        """Stops the base from answering at once; all its revisions become dead."""

    def forget_knowledge_base(self, tenant: str, name: str) -> None:
        """Forgets its dead revisions, once their chunks are gone."""

    def original(self, tenant: str, knowledge_base: str, document: DocumentRecord) -> str | None:
        """The id of another live document with the same bytes that is no alias itself.

        Raises UnknownKnowledgeBase.
        """

    def begin_revision(self, tenant: str, knowledge_base: str, document: DocumentRecord) -> None:
        """Notes the intent to write, so that a crash leaves nothing unaccounted for.

        A revision that is live stays live.
        """

    def make_live(
        self, tenant: str, knowledge_base: str, document: DocumentRecord, text: str
    ) -> str | None:
        """Switches the document to this revision at once; the revision it replaced, if any."""

    def delete_document(self, tenant: str, knowledge_base: str, document_id: str) -> bool:
        """Stops the document from answering at once; its revisions become dead."""

    def unfinished(self) -> list[tuple[str, str, str, str]]:
        """(tenant, knowledge base, document id, revision) of all writing and dead revisions."""

    def forget_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None: ...

    def documents(self, tenant: str, knowledge_base: str) -> list[DocumentRecord]:
        """Live documents, by source."""

    def text(self, tenant: str, knowledge_base: str, document_id: str, revision: str) -> str | None:
        """The stored text of a live revision."""

    def changes(self, tenant: str, knowledge_base: str) -> int:
        """A number that grows with every change of the base."""

    def close(self) -> None: ...
