"""What is asked of a Qdrant Edge shard: the best of each arm, both scores for every hit, and the
chunks of a revision."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from qdrant_edge import (
    EdgeShard,
    Filter,
    HasIdCondition,
    Query,
    QueryBatchRequest,
    QueryRequest,
    ScrollRequest,
    SearchParams,
)
from qdrant_edge import SparseVector as EdgeSparse

from ingest.adapters.payload import to_stored
from ingest.ports import QueryVectors, StoredChunk

Scores = dict[UUID, float]

MAX_CHUNKS = 1_000_000
"""More than one revision of a document ever has."""


def arms(
    shard: EdgeShard, query: QueryVectors, limit: int, condition: Filter, *, exact: bool = False
) -> tuple[Scores, Scores]:
    dense, sparse = shard.query_batch(
        QueryBatchRequest(
            [_dense(query, limit, condition, exact=exact), _sparse(query, limit, condition)]
        )
    )
    return _scores(dense), _scores(sparse)


def complete(
    shard: EdgeShard, query: QueryVectors, dense: Scores, sparse: Scores
) -> tuple[Scores, Scores]:
    """Both arms' scores for every hit of either arm."""
    only_sparse, only_dense = sparse.keys() - dense.keys(), dense.keys() - sparse.keys()
    more_dense, more_sparse = shard.query_batch(
        QueryBatchRequest(
            [
                _dense(query, len(only_sparse) + 1, _named(only_sparse)),
                _sparse(query, len(only_dense) + 1, _named(only_dense)),
            ]
        )
    )
    return dense | _scores(more_dense), sparse | _scores(more_sparse)


def stored_chunks(shard: EdgeShard, condition: Filter) -> list[StoredChunk]:
    """All that match, by their ordinal, with their vectors."""
    request = ScrollRequest(limit=MAX_CHUNKS, filter=condition, with_payload=True, with_vector=True)
    records, _ = shard.scroll(request)
    whole: list[Any] = records
    found = [to_stored(str(record.id), record.payload, record.vector) for record in whole]
    return sorted(found, key=lambda stored: stored.chunk.ordinal)


def _named(points: set[Any]) -> Filter:
    return Filter(must=[HasIdCondition(points)])


def _dense(
    query: QueryVectors, limit: int, condition: Filter, *, exact: bool = False
) -> QueryRequest:
    vector = np.asarray(query.dense).tolist()
    params = SearchParams(exact=True) if exact else None
    nearest = Query.Nearest(vector, using="dense")
    return QueryRequest(limit=limit, query=nearest, filter=condition, params=params)


def _sparse(query: QueryVectors, limit: int, condition: Filter) -> QueryRequest:
    vector = EdgeSparse(query.sparse.indices, query.sparse.values)
    return QueryRequest(limit=limit, query=Query.Nearest(vector, using="bm25"), filter=condition)


def _scores(points: Sequence[Any]) -> Scores:
    return {point.id: point.score for point in points}
