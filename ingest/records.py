"""What is recorded of knowledge bases and documents, and the port of where it is kept."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from ingest.acl import both, everyone
from ingest.errors import DependencyError

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
NAME_RULE = "a knowledge base name has 1 to 63 of a-z, 0-9, - and _, and starts with a-z or 0-9"


class WrittenElsewhere(DependencyError):
    """Another process that shares the records writes to the base."""

    def __init__(self, knowledge_base: str) -> None:
        super().__init__(
            f"another process is writing to {knowledge_base!r}; try again when it is done"
        )


@dataclass(frozen=True)
class DocumentRecord:
    """What is known of a document. `status` is current, superseded or draft; `acl` is what it was
    given (ingest.acl)."""

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
    acl: list[str] = field(default_factory=everyone)

    @property
    def readers(self) -> list[str]:
        """Who may read it: those whom its access list admits, and what it says of itself."""
        declared = self.metadata.get("acl")
        return both(self.acl, declared.split(",")) if declared else self.acl


@dataclass(frozen=True)
class KnowledgeBase:
    name: str
    description: str
    created_at: str
    embedder: str
    sparse: str
    web: bool = False
    acl: list[str] = field(default_factory=everyone)
    examples: list[str] = field(default_factory=list)
    """Questions that it answers: with its description, what questions are routed by."""


class Records(Protocol):
    """Names the live revision of each document, and keeps its text. Calls block briefly, and raise
    DependencyError where the database does not answer.

    A revision is `writing`, then `live`, then `dead`; only live ones answer.
    """

    def create_knowledge_base(self, tenant: str, base: KnowledgeBase) -> None: ...

    def knowledge_bases(self, tenant: str) -> list[KnowledgeBase]: ...

    def tenants(self) -> list[str]:
        """All that have a knowledge base."""

    def describe(self, tenant: str, name: str, description: str, examples: Sequence[str]) -> None:
        """Raises UnknownKnowledgeBase."""

    def set_base_acl(self, tenant: str, name: str, acl: Sequence[str]) -> None:
        """Raises UnknownKnowledgeBase."""

    def set_document_acl(
        self, tenant: str, knowledge_base: str, document_id: str, acl: Sequence[str]
    ) -> None:
        """Of a live document; a change of its base."""

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

    def take(self, tenant: str, knowledge_base: str) -> bool:
        """Whether this process, and no other, writes to the base until it lets go of it or ends."""

    def let_go(self, tenant: str, knowledge_base: str) -> None:
        """Of a base that it may have."""

    def begin_revision(self, tenant: str, knowledge_base: str, document: DocumentRecord) -> None:
        """Notes the intent to write, so that a crash leaves nothing unaccounted for.

        A revision that is live stays live.
        """

    def make_live(
        self, tenant: str, knowledge_base: str, document: DocumentRecord, text: str
    ) -> str | None:
        """Switches the document to this revision at once; the revision it replaced, if any.

        Raises DependencyError for a revision that is dead or was not begun.
        """

    def delete_document(self, tenant: str, knowledge_base: str, document_id: str) -> bool:
        """Stops the document from answering at once; its revisions become dead."""

    def unfinished(self) -> list[tuple[str, str, str, str]]:
        """(tenant, knowledge base, document id, revision) of all writing and dead revisions."""

    def abandoned(self, tenant: str, knowledge_base: str) -> list[tuple[str, str]]:
        """(document id, revision) of all that are dead. For who has taken the base: what is still
        writing was left by a process that ended, and is dead from now on."""

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


@contextmanager
def taken(records: Records, tenant: str, knowledge_base: str) -> Iterator[None]:
    """Raises WrittenElsewhere."""
    if not records.take(tenant, knowledge_base):
        raise WrittenElsewhere(knowledge_base)
    try:
        yield
    finally:
        records.let_go(tenant, knowledge_base)
