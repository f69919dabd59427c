"""What of each knowledge base may answer now: live revisions, without aliases."""

import asyncio
import hashlib
import posixpath
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from ingest.acl import everyone
from ingest.errors import EmbedderMismatch, UnknownKnowledgeBase
from ingest.filters import Condition, Filters
from ingest.ports import DocumentRecord, Hit, KnowledgeBase, Records
from ingest.scope import EVERYONE, LOCAL, Scope
from ingest.settings import set_back

T = TypeVar("T")

AUTO = "auto"
"""Asked for as a knowledge base: every one that the scope may read."""


@dataclass(frozen=True)
class LiveBase:
    """The live documents of a base by id, as of one change number; who may read the base."""

    name: str
    changes: int
    version: str
    documents: dict[str, DocumentRecord]
    acl: list[str] = field(default_factory=everyone)

    def visible(self, scope: Scope) -> list[DocumentRecord]:
        """All to a manager; to others what they may read, and nothing of who else may."""
        if scope.manages:
            return list(self.documents.values())
        return [_as_seen_by(scope, d, self) for d in self.documents.values() if _reads(scope, d)]

    def seen(self, scope: Scope, hit: Hit) -> Hit | None:
        """The hit with its document's present status; None for what answers this scope no longer.

        An alias (the same bytes under another name) is left out while its original says the same.
        """
        document = self.documents.get(hit.chunk.document_id)
        if document is None or document.revision != hit.chunk.revision:
            return None
        if not _reads(scope, document):
            return None
        original = self.documents.get(document.duplicate_of or "")
        if original and _reads(scope, original) and _says_the_same(original, document):
            return None
        metadata = {**hit.chunk.metadata, "status": document.status}
        return replace(hit, chunk=replace(hit.chunk, metadata=metadata))

    def stored(self, filters: Filters) -> Filters:
        """As the store can apply them: a status is known here, where documents meet, and what is
        within a range is looked up here, for every store alike."""
        found = [self._stored(c) for c in filters.conditions]
        return Filters([c for c in found if c.values or not c.exclude])

    def _stored(self, condition: Condition) -> Condition:
        if condition.is_range:
            documents = self.documents.values()
            within = [d for d in documents if condition.admits(d.metadata.get(condition.key))]
            return Condition("document_id", sorted(d.document_id for d in within))
        return self._by_document(condition) if condition.key == "status" else condition

    def _by_document(self, status: Condition) -> Condition:
        """The fewer ids, of those to be found or of those to be left out."""
        admitted = [key for s in self._statuses if status.admits(s) for key in self._statuses[s]]
        if 2 * len(admitted) <= len(self.documents):
            return Condition("document_id", admitted)
        others = [key for s in self._statuses if not status.admits(s) for key in self._statuses[s]]
        return Condition("document_id", others, exclude=True)

    @cached_property
    def _statuses(self) -> dict[str, list[str]]:
        """Ids by status, sorted once: no search should go over all documents of its base."""
        found: dict[str, list[str]] = {}
        for document in self.documents.values():
            found.setdefault(document.status, []).append(document.document_id)
        return found


class LiveBases:
    """Reads live bases from the records, in a thread, once per change of a base."""

    def __init__(self, records: Records, pipeline: str, embedder: str) -> None:
        self._records = records
        self._pipeline = pipeline
        self._embedder = embedder
        self._cache: dict[tuple[str, str], LiveBase] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="records")

    async def base(self, scope: Scope, knowledge_base: str) -> LiveBase:
        """Raises UnknownKnowledgeBase, for one that this scope may not read as well."""
        live = await self._run(lambda: self._read(scope.tenant, knowledge_base))
        if not (scope.manages or scope.may_read(live.acl)):
            raise unknown_base(knowledge_base)
        return live

    async def bases(self, scope: Scope) -> list[KnowledgeBase]:
        """Those that this scope may read; all of the tenant to a manager."""
        found = await self._run(lambda: self._records.knowledge_bases(scope.tenant))
        return [base for base in found if scope.manages or scope.may_read(base.acl)]

    async def named(self, scope: Scope, asked: str) -> list[KnowledgeBase]:
        """As the function `named`, of those that this scope may read."""
        return named(await self.bases(scope), asked)

    async def withheld(self, scope: Scope, knowledge_base: str, document_ids: list[str]) -> bool:
        """Whether one of these is there and not for this scope; what is gone is nobody's."""
        everything = replace(scope, manages=True)
        try:
            live = await self.base(everything, knowledge_base)
        except UnknownKnowledgeBase:
            return False
        named = [live.documents[key] for key in document_ids if key in live.documents]
        return not (scope.may_read(live.acl) and all(_reads(scope, one) for one in named))

    async def tenants(self) -> list[str]:
        return await self._run(self._records.tenants)

    async def text(self, scope: Scope, base: str, document_id: str, revision: str) -> str | None:
        return await self._run(
            lambda: self._records.text(scope.tenant, base, document_id, revision)
        )

    async def check_embedder(self, scope: Scope) -> None:
        """Raises EmbedderMismatch for a base that another embedder filled."""
        for base in await self.bases(scope):
            self._check(scope.tenant, base)

    def close(self) -> None:
        self._pool.shutdown()

    def _check(self, tenant: str, base: KnowledgeBase) -> None:
        of_tenant = "" if tenant == LOCAL.tenant else f" --tenant {tenant}"
        if base.embedder != self._embedder:
            raise EmbedderMismatch(
                f"knowledge base {base.name!r} was embedded with {base.embedder}, this "
                f"service runs {self._embedder}; {set_back(base.embedder)}, or run "
                f"crag kb reembed {base.name}{of_tenant}"
            )

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _read(self, tenant: str, name: str) -> LiveBase:
        changes = self._records.changes(tenant, name)
        cached = self._cache.get((tenant, name))
        if cached is not None and cached.changes == changes:
            return cached
        documents = _with_status(self._records.documents(tenant, name))
        base = require_known(self._records.knowledge_bases(tenant), name)
        self._check(tenant, base)  # another process may have embedded it anew
        version = _version(self._pipeline, documents, base)
        live = LiveBase(name, changes, version, {d.document_id: d for d in documents}, base.acl)
        self._cache[tenant, name] = live
        return live


def require_known(bases: list[KnowledgeBase], name: str) -> KnowledgeBase:
    for base in bases:
        if base.name == name:
            return base
    raise unknown_base(name)


def several(asked: str) -> bool:
    """Whether it may stand for more than one knowledge base."""
    return asked == AUTO or "," in asked


def named(bases: list[KnowledgeBase], asked: str) -> list[KnowledgeBase]:
    """The one that is asked for, those of a list by commas, or all for `auto`, unless one has that
    name. Raises UnknownKnowledgeBase, also where there is none."""
    if asked == AUTO and bases and all(base.name != AUTO for base in bases):
        return bases
    return [require_known(bases, name) for name in dict.fromkeys(asked.split(","))]


def unknown_base(name: str) -> UnknownKnowledgeBase:
    return UnknownKnowledgeBase(f"no knowledge base {name!r}")


def _reads(scope: Scope, document: DocumentRecord) -> bool:
    return scope.may_read(document.readers)


def _as_seen_by(scope: Scope, document: DocumentRecord, base: LiveBase) -> DocumentRecord:
    original = base.documents.get(document.duplicate_of or "")
    return replace(
        document,
        duplicate_of=original.document_id if original and _reads(scope, original) else None,
        acl=[entry for entry in document.readers if entry in scope.readable_acl],
        metadata={key: value for key, value in document.metadata.items() if key != "acl"},
    )


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


def _version(pipeline: str, documents: list[DocumentRecord], base: KnowledgeBase) -> str:
    """Access lists count where there are any: what was cached under another one is not found."""
    lines = [pipeline, *sorted(f"{d.document_id} {d.revision} {d.status}" for d in documents)]
    listed = {d.document_id: d.readers for d in documents} | {"": base.acl}
    lines += sorted(f"{key} {acl}" for key, acl in listed.items() if acl != [EVERYONE])
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
