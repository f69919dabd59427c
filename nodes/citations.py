"""Citations: made from a passage, and checked against the stored text as it is now."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.documents import Candidate, quote_sha256
from nodes.ports import Sources
from nodes.state import Citation, Sentence


def cite(candidate: Candidate, start: int, end: int, n: int) -> Citation:
    """A citation of `candidate.chunk.text[start:end]`."""
    chunk = candidate.chunk
    quote = chunk.text[start:end]
    return Citation(
        n=n,
        kind="web" if candidate.url else "document",
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        revision=chunk.revision,
        title=chunk.title,
        page=chunk.page,
        heading=chunk.heading,
        start=chunk.start + start,
        end=chunk.start + end,
        quote=quote,
        quote_sha256=quote_sha256(quote),
        url=candidate.url,
        source=chunk.metadata.get("source", ""),
    )


def renumbered(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Citations numbered from 1 in the order they are read, one number for one quote."""
    numbers: dict[tuple[str, int, int], int] = {}
    told = []
    for sentence in sentences:
        citations = [
            replace(c, n=numbers.setdefault((c.chunk_id, c.start, c.end), len(numbers) + 1))
            for c in sentence.citations
        ]
        told.append(replace(sentence, citations=citations))
    return told


def named(candidate: Candidate) -> str:
    """A source as a note names it: with its version and its date, where it has them."""
    chunk = candidate.chunk
    version, date = chunk.metadata.get("version"), chunk.metadata.get("effective")
    parts = [chunk.title, f"version {version}" if version else "", f"of {date}" if date else ""]
    return ", ".join(part for part in parts if part)


def citations_problem(sentence: Sentence, sources: Sources) -> str:
    """What is wrong with the citations of a sentence, or nothing; it must have one."""
    problems = [citation_problem(citation, sources) for citation in sentence.citations]
    return next((problem for problem in problems if problem), "") if problems else "no citation"


def citation_problem(citation: Citation, sources: Sources) -> str:
    """What is wrong with a citation, or nothing."""
    text = sources.texts.get((citation.document_id, citation.revision))
    if text is None:
        return "the cited document no longer answers"
    if not 0 <= citation.start < citation.end <= len(text):
        return "the offsets lie outside the document"
    if text[citation.start : citation.end] != citation.quote:
        return "the quote does not stand at its offsets"
    if quote_sha256(citation.quote) != citation.quote_sha256:
        return "the quote was altered"
    return ""
