"""Scope and Filters as Qdrant Edge conditions."""

from qdrant_edge import FieldCondition, Filter, MatchAny, MatchValue

from ingest.filters import Condition, Filters
from ingest.scope import Scope


def scope_filter(scope: Scope, knowledge_base: str, filters: Filters) -> Filter:
    """Only chunks of this tenant and base that these principals may read and the filters admit."""
    kept = [c for c in filters.conditions if not c.exclude]
    excluded = [c for c in filters.conditions if c.exclude]
    return Filter(
        must=[
            _equals("tenant", scope.tenant),
            _equals("knowledge_base", knowledge_base),
            _any("acl", scope.readable_acl),
            *(_condition(c) for c in kept),
        ],
        must_not=[_condition(c) for c in excluded],
    )


def revision_filter(document_id: str, revision: str) -> Filter:
    return Filter(must=[_equals("document_id", document_id), _equals("revision", revision)])


def document_filter(document_id: str) -> Filter:
    return Filter(must=[_equals("document_id", document_id)])


def _condition(condition: Condition) -> FieldCondition:
    return _any(condition.key, condition.values)


def _equals(key: str, value: str) -> FieldCondition:
    return FieldCondition(key, match=MatchValue(value))


def _any(key: str, values: list[str]) -> FieldCondition:
    return FieldCondition(key, match=MatchAny(values))
