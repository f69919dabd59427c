"""What is asked of a Qdrant server: filters, and the best of each arm."""

from collections.abc import Iterable, Sequence

import numpy as np
from qdrant_client import models

from ingest.filters import Condition, Filters
from ingest.ports import QueryVectors
from ingest.scope import Scope


def scope_filter(
    scope: Scope, knowledge_base: str, filters: Filters, chunk_ids: Sequence[str] | None = None
) -> models.Filter:
    """Only chunks of this tenant and base that these principals may read and the filters admit."""
    kept = [c for c in filters.conditions if not c.exclude]
    excluded = [c for c in filters.conditions if c.exclude]
    named = [] if chunk_ids is None else [models.HasIdCondition(has_id=list(chunk_ids))]
    return models.Filter(
        must=[
            _equals("tenant", scope.tenant),
            _equals("knowledge_base", knowledge_base),
            _any("acl", scope.readable_acl),
            *(_condition(c) for c in kept),
            *named,
        ],
        must_not=[_condition(c) for c in excluded],
    )


def revision_filter(document_id: str, revision: str) -> models.Filter:
    return models.Filter(must=[_equals("document_id", document_id), _equals("revision", revision)])


def document_filter(document_id: str) -> models.Filter:
    return models.Filter(must=[_equals("document_id", document_id)])


def named(chunk_ids: Iterable[str]) -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=list(chunk_ids))])


def dense_query(
    query: QueryVectors,
    limit: int,
    condition: models.Filter,
    *,
    exact: bool = False,
    payload: bool = False,
) -> models.QueryRequest:
    return models.QueryRequest(
        query=np.asarray(query.dense).tolist(),
        using="dense",
        filter=condition,
        limit=limit,
        params=models.SearchParams(exact=True) if exact else None,
        with_payload=payload,
    )


def sparse_query(
    query: QueryVectors, limit: int, condition: models.Filter, *, payload: bool = False
) -> models.QueryRequest:
    return models.QueryRequest(
        query=models.SparseVector(indices=query.sparse.indices, values=query.sparse.values),
        using="bm25",
        filter=condition,
        limit=limit,
        with_payload=payload,
    )


def _condition(condition: Condition) -> models.FieldCondition:
    return _any(condition.key, condition.values)


def _equals(key: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _any(key: str, values: list[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=values))
