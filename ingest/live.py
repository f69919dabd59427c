"""What of each knowledge base may answer now: live revisions, without aliases."""

import asyncio
import hashlib
import posixpath
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from ingest.errors import EmbedderMismatch, UnknownKnowledgeBase
from ingest.filters import Condition, Filters
from ingest.ports import DocumentRecord, Hit, KnowledgeBase, Records
from ingest.scope import Scope

T = TypeVar("T")


@dataclass(frozen=True)
class LiveBase:
    """The live documents of a base by id, as of one change number."""

    name: str
    changes: int
    version: str
    documents: dict[str, DocumentRecord]

    def seen(self, hit: Hit) -> Hit | None:
        """The hit with its document's present status; None for what no longer answers.

        An alias (the same bytes under another name) is left out while its original says the same.
        """
        document = self.documents.get(hit.chunk.document_id)
        if document is None or document.revision != hit.chunk.revision:
            return None
        original = self.documents.get(document.duplicate_of or "")
        if original is not None and _says_the_same(original, document):
            return None
        metadata = {**hit.chunk.metadata, "status": document.status}
        return replace(hit, chunk=replace(hit.chunk, metadata=metadata))

    def stored(self, filters: Filters) -> Filters:
        """As the store can apply them: a status is known here, where documents meet."""
        return Filters(
            [self._by_document(c) if c.key == "status" else c for c in filters.conditions]
        )

    def _by_document(self, status: Condition) -> Condition:
        admitted = [d.document_id for d in self.documents.values() if status.admits(d.status)]
        others = [d.document_id for d in self.documents.values() if not status.admits(d.status)]
        if len(others) < len(admitted):
            return Condition("document_id", others, exclude=True)
        return Condition("document_id", admitted)


class LiveBases:
    """Reads live bases from the records, in a thread, once per change of a base."""

    def __init__(self, records: Records, pipeline: str, embedder: str) -> None:
        self._records = records
        self._pipeline = pipeline
        self._embedder = embedder
        self._cache: dict[tuple[str, str], LiveBase] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="records")

    async def base(self, scope: Scope, knowledge_base: str) -> LiveBase:
        """Raises UnknownKnowledgeBase."""
        return await self._run(lambda: self._read(scope.tenant, knowledge_base))

    async def bases(self, scope: Scope) -> list[KnowledgeBase]:
        return await self._run(lambda: self._records.knowledge_bases(scope.tenant))

    async def text(self, scope: Scope, base: str, document_id: str, revision: str) -> str | None:
        return await self._run(
            lambda: self._records.text(scope.tenant, base, document_id, revision)
        )

    async def check_embedder(self, scope: Scope) -> None:
        """Raises EmbedderMismatch for a base that another embedder filled."""
        for base in await self.bases(scope):
            if base.embedder != self._embedder:
                raise EmbedderMismatch(
                    f"knowledge base {base.name!r} was embedded with {base.embedder}, this "
                    f"service runs {self._embedder}; set the embedder back, or run "
                    f"crag kb reembed {base.name}"
                )

    def close(self) -> None:
        self._pool.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _read(self, tenant: str, name: str) -> LiveBase:
        changes = self._records.changes(tenant, name)
        cached = self._cache.get((tenant, name))
        if cached is not None and cached.changes == changes:
            return cached
        documents = _with_status(self._records.documents(tenant, name))
        version = _version(self._pipeline, documents)
        live = LiveBase(name, changes, version, {d.document_id: d for d in documents})
        self._cache[tenant, name] = live
        return live


def require_known(bases: list[KnowledgeBase], name: str) -> KnowledgeBase:
    for base in bases:
        if base.name == name:
            return base
    raise UnknownKnowledgeBase(f"no knowledge base {name!r}")


def _says_the_same(one: DocumentRecord, other: DocumentRecord) -> bool:
    return (one.content_sha256, one.status) == (other.content_sha256, other.status)


def _with_status(documents: list[DocumentRecord]) -> list[DocumentRecord]:
    """A document that a live one says it supersedes is superseded, whatever it says itself."""
    superseded = {
        source
        for document in documents
        if document.status != "draft"
        for source in _superseded_sources(document)
    }
    return [replace(d, status="superseded") if d.source in superseded else d for d in documents]


def _superseded_sources(document: DocumentRecord) -> set[str]:
    """`supersedes` is a path from the root of the base, or from the document's own folder."""
    target = document.metadata.get("supersedes")
    if not target:
        return set()
    folder = posixpath.dirname(document.source)
    named = {posixpath.normpath(target), posixpath.normpath(posixpath.join(folder, target))}
    return named - {document.source}


def _version(pipeline: str, documents: list[DocumentRecord]) -> str:
    lines = [pipeline, *sorted(f"{d.document_id} {d.revision} {d.status}" for d in documents)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
