"""Whose word comes first: a document of the base, one of low trust, the web."""

from ingest.documents import Candidate


def trust(candidate: Candidate) -> int:
    """2 for a document, 1 for one whose metadata say `trust: low`, 0 for the web.

    Nothing that a document says of itself raises it.
    """
    if candidate.url:
        return 0
    return 1 if candidate.chunk.metadata.get("trust") == "low" else 2
