"""The passages that came nearest to an answer, and what they are called."""

import re

from ingest.documents import Candidate
from nodes.instructions import is_instruction
from nodes.state import State

NEAREST = 3
"""Passages that are named as the nearest: for a refusal, where a person may look."""

LABEL = 80
"""Code points of a place that are shown."""

ADDRESS = re.compile(r"https?:|www\.|\S@\S|[<\[\]`]", re.IGNORECASE)
"""What a title has no need of: an address or markup in it is not passed on."""


def nearest(state: State) -> list[Candidate]:
    """The evidence, then what was ranked first; at most NEAREST, best first."""
    found = [e.candidate for e in state.evidence] + state.candidates
    return list({candidate.chunk.chunk_id: candidate for candidate in found}.values())[:NEAREST]


def place(candidate: Candidate) -> str:
    """Title and heading, without one that holds an address, markup or an order to a model."""
    parts = (candidate.chunk.title, candidate.chunk.heading)
    return " > ".join(filter(None, map(label, parts)))


def found_at(candidate: Candidate) -> str:
    """The place with the file that it is in, by which a person opens it; a page of the web is
    named alone."""
    source = "" if candidate.url else label(candidate.chunk.metadata.get("source", ""))
    named = place(candidate)
    return f"{named} ({source})" if named and source else named or source


def label(text: str) -> str:
    """A title as it may stand in a sentence of the service's own."""
    plain = " ".join(text.split())
    if ADDRESS.search(plain) or is_instruction(plain):
        return ""
    return plain if len(plain) <= LABEL else plain[: LABEL - 1].rstrip() + "…"
