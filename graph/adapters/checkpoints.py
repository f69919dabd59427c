"""The checkpoint format of every store."""

from typing import Any


def plain_serializer() -> Any:
    """Limited to the types that a State is made of."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    modules = ["nodes.state", "ingest.documents", "ingest.filters"]
    names = {
        "nodes.state": "Turn Query Stated Grade Evidence Citation Sentence SourceSpan Support "
        "Rejected Degraded TraceEntry Spent",
        "ingest.documents": "Candidate Chunk",
        "ingest.filters": "Filters Condition",
    }
    allowed = [(module, name) for module in modules for name in names[module].split()]
    return JsonPlusSerializer(allowed_msgpack_modules=allowed)
