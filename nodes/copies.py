"""Citations of what was collapsed: who reads an answer sees every document that says it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.documents import Candidate
from nodes.citations import cite, renumbered
from nodes.findings import Citation, Sentence


def with_copies(
    sentences: Sequence[Sentence],
    copies: Mapping[str, Sequence[Candidate]],
    *,
    beside: Sequence[Sentence] = (),
) -> list[Sentence]:
    """Each sentence cites the copies of its passages, too, where they hold the same quote."""
    if not copies:
        return list(sentences)
    told = [
        replace(one, citations=[c for own in one.citations for c in (own, *_others(own, copies))])
        for one in sentences
    ]
    return renumbered(told, beside=beside)


def _others(own: Citation, copies: Mapping[str, Sequence[Candidate]]) -> list[Citation]:
    found = []
    for copy in copies.get(own.chunk_id, []):
        start = copy.chunk.text.find(own.quote)
        if start >= 0:
            found.append(cite(copy, start, start + len(own.quote), own.n))
    return found
