"""The checkpoint format of every store."""

from typing import Any


def plain_serializer() -> Any:
    """Limited to the types that a State is made of. One that moved to another module since a
    checkpoint was written comes as the dict of its fields, which State reads."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    names = {
        "nodes.state": "Turn Query Degraded TraceEntry Spent",
        "nodes.findings": "Stated Grade Evidence Citation Sentence SourceSpan Support Rejected",
        "ingest.documents": "Candidate Chunk",
        "ingest.filters": "Filters Condition",
    }
    allowed = [(module, name) for module, listed in names.items() for name in listed.split()]
    return JsonPlusSerializer(allowed_msgpack_modules=allowed)
