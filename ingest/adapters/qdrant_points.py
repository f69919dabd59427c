"""Chunks as points of a Qdrant server, and back."""

from collections.abc import Sequence
from typing import Any

from qdrant_client import models

from ingest.adapters.payload import to_chunk, to_payload, to_stored
from ingest.documents import Chunk
from ingest.ports import StoredChunk

Scores = dict[str, float]


def point_of(stored: StoredChunk) -> models.PointStruct:
    sparse = models.SparseVector(indices=stored.sparse.indices, values=stored.sparse.values)
    vectors: Any = {"dense": stored.dense.tolist(), "bm25": sparse}
    return models.PointStruct(id=stored.chunk.chunk_id, vector=vectors, payload=to_payload(stored))


def stored_of(record: models.Record) -> StoredChunk:
    """Of a record that was read with its payload and vectors."""
    vectors: Any = record.vector
    return to_stored(str(record.id), record.payload or {}, vectors)


def chunks_of(points: Sequence[models.ScoredPoint]) -> dict[str, Chunk]:
    return {str(point.id): to_chunk(str(point.id), point.payload or {}) for point in points}


def scores_of(points: Sequence[models.ScoredPoint]) -> Scores:
    return {str(point.id): point.score for point in points}
