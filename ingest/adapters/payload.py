"""The shape of a chunk in a store's payload, and back. Every vector store shares it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ingest.documents import Chunk
from ingest.ports import SparseVector, StoredChunk

INDEXED = (
    "tenant",
    "knowledge_base",
    "acl",
    "document_id",
    "revision",
    "language",
    "version",
    "status",
)
"""Keys that searches filter on; their indexes exist before the first write."""


def to_payload(stored: StoredChunk) -> dict[str, Any]:
    chunk = stored.chunk
    return {
        **chunk.metadata,  # first: what a document says of itself moves it nowhere
        "tenant": stored.tenant,
        "knowledge_base": stored.knowledge_base,
        "acl": stored.acl,
        "document_id": chunk.document_id,
        "revision": chunk.revision,
        "ordinal": chunk.ordinal,
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "title": chunk.title,
        "heading": chunk.heading,
        "page": chunk.page,
        "metadata_keys": list(chunk.metadata),
    }


def to_chunk(chunk_id: str, payload: Mapping[str, Any]) -> Chunk:
    return Chunk(
        chunk_id=chunk_id,
        document_id=payload["document_id"],
        revision=payload["revision"],
        ordinal=payload["ordinal"],
        text=payload["text"],
        start=payload["start"],
        end=payload["end"],
        title=payload["title"],
        heading=payload["heading"],
        page=payload["page"],
        metadata={key: payload[key] for key in payload["metadata_keys"]},
    )


def to_stored(chunk_id: str, payload: Mapping[str, Any], vectors: Mapping[str, Any]) -> StoredChunk:
    """Of a point that was read whole; `bm25` is not there where a text has no terms."""
    sparse = vectors.get("bm25")
    return StoredChunk(
        chunk=to_chunk(chunk_id, payload),
        tenant=payload["tenant"],
        knowledge_base=payload["knowledge_base"],
        acl=payload["acl"],
        dense=np.asarray(vectors["dense"], dtype=np.float32),
        sparse=SparseVector(list(sparse.indices), list(sparse.values))
        if sparse
        else SparseVector([], []),
    )
