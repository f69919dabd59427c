"""Cuts a loaded document into chunks, and settles who may read it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ingest.documents import SECTION, Chunk, LoadedDocument, chunk_id, document_id
from ingest.ports import DocumentRecord
from ingest.scope import EVERYONE, Scope
from ingest.settings import SplitSettings
from ingest.splitter import Passage, split

STATUSES = ("current", "superseded", "draft")
HIDDEN = "hidden_characters"
"""Metadata of a document and its chunks: how many characters in it were hidden, where any were."""


@dataclass(frozen=True)
class Prepared:
    """A document cut into chunks, not yet embedded. Without an `acl` it keeps the one it has."""

    record: DocumentRecord
    text: str
    chunks: list[Chunk]
    acl: list[str] | None = None


def prepared(
    loaded: LoadedDocument,
    content: bytes,
    *,
    scope: Scope,
    knowledge_base: str,
    source: str,
    revision: str,
    count_tokens: Callable[[list[str]], list[int]],
    settings: SplitSettings,
    acl: list[str] | None,
) -> Prepared:
    passages = split(
        loaded,
        count_tokens,
        max_tokens=settings.max_tokens,
        overlap_tokens=settings.overlap_tokens,
    )
    document = document_id(scope.tenant, knowledge_base, source)
    status = loaded.metadata.get("status", "")
    metadata = {**loaded.metadata, "status": status if status in STATUSES else "current"}
    if loaded.hidden:
        metadata[HIDDEN] = str(loaded.hidden)
    of_chunks = {key: value for key, value in metadata.items() if key != "acl"}
    chunks = [
        Chunk(
            chunk_id=chunk_id(document, revision, ordinal),
            document_id=document,
            revision=revision,
            ordinal=ordinal,
            text=loaded.text[passage.start : passage.end],
            start=passage.start,
            end=passage.end,
            title=loaded.title,
            heading=passage.heading,
            page=passage.page,
            metadata={**of_chunks, "source": source, **_section(passage)},
        )
        for ordinal, passage in enumerate(passages)
    ]
    record = DocumentRecord(
        document_id=document,
        source=source,
        title=loaded.title,
        revision=revision,
        content_sha256=hashlib.sha256(content).hexdigest(),
        media_type=loaded.media_type,
        chunks=len(chunks),
        updated_at=datetime.now(UTC).isoformat(timespec="seconds"),
        status=metadata["status"],
        metadata=metadata,
    )
    return Prepared(record, loaded.text, chunks, acl)


def _section(passage: Passage) -> dict[str, str]:
    """Where its section is more than itself."""
    start, end = passage.section
    whole = (start, end) == (passage.start, passage.end)
    return {} if whole else {SECTION: f"{start}-{end}"}


def with_acl(document: Prepared, known: DocumentRecord | None) -> Prepared:
    """With the access list that was given, else the one that the document has."""
    kept = known.acl if known else [EVERYONE]
    given = kept if document.acl is None else document.acl
    return replace(document, record=replace(document.record, acl=given))
