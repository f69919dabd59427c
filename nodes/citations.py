"""Citations: made from a passage, and checked against the stored text as it is now."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Literal

from ingest.documents import Candidate, quote_sha256
from nodes.findings import Citation, Sentence
from nodes.ports import Sources

Fault = Literal["uncited", "altered", "stale", "misattributed", "stitched", "fabricated", "cut"]
SAID: dict[Fault, str] = {
    "uncited": "no citation",
    "altered": "the quote is not the one that was cited",
    "stale": "the document was changed or deleted since it was read",
    "misattributed": "the quote does not stand at its offsets, but elsewhere",
    "stitched": "pieces of the quote stand, but not together",
    "fabricated": "the quote stands nowhere in what was read",
    "cut": "the quote begins or ends within a word or a number",
}
PIECE = 3
"""Words that a piece of a stitched quote has at least: shorter ones stand everywhere."""

WORD = re.compile(r"\w+")
BEFORE, AFTER = re.compile(r"[0-9A-Za-z][.,'’_/-]?\Z"), re.compile(r"[.,'’_/-]?[0-9A-Za-z]")
"""Scripts without spaces have no words that could be seen to go on."""


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
        knowledge_base=candidate.knowledge_base,
    )


def renumbered(sentences: Sequence[Sentence], beside: Sequence[Sentence] = ()) -> list[Sentence]:
    """Citations numbered in the order they are read, one number for one quote; those of the
    sentences `beside` are not given again."""
    numbers = {_quoted(c): c.n for sentence in beside for c in sentence.citations}
    taken = set(numbers.values())
    free = (n for n in count(1) if n not in taken)
    told = []
    for sentence in sentences:
        places = dict.fromkeys(map(_quoted, sentence.citations))
        numbers |= {place: next(free) for place in places if place not in numbers}
        citations = [replace(c, n=numbers[_quoted(c)]) for c in sentence.citations]
        told.append(replace(sentence, citations=citations))
    return told


def _quoted(citation: Citation) -> tuple[str, int, int]:
    return (citation.chunk_id, citation.start, citation.end)


def citations_problem(sentence: Sentence, sources: Sources) -> str:
    """What is wrong with the citations of a sentence, by name, or nothing; it must have one."""
    faults = citation_faults(sentence, sources)
    return said(faults[0]) if faults else ""


def citation_faults(sentence: Sentence, sources: Sources) -> list[Fault]:
    """The faults of all its citations; `uncited` where it has none."""
    if not sentence.citations:
        return ["uncited"]
    found = (citation_fault(citation, sources) for citation in sentence.citations)
    return [fault for fault in found if fault is not None]


def citation_problem(citation: Citation, sources: Sources) -> str:
    """What is wrong with a citation, by name, or nothing."""
    fault = citation_fault(citation, sources)
    return said(fault) if fault else ""


def said(fault: Fault) -> str:
    return f"{fault}: {SAID[fault]}"


def citation_fault(citation: Citation, sources: Sources) -> Fault | None:
    """None where the stored text says exactly the quote at its offsets; else which fault it is."""
    text = sources.texts.get((citation.document_id, citation.revision))
    if text is not None and _says(text, citation.quote, citation.start, citation.end):
        if quote_sha256(citation.quote) != citation.quote_sha256:
            return "altered"
        return "cut" if any(_goes_on(text, at) for at in (citation.start, citation.end)) else None
    if _was_there(citation, sources):
        return "stale"
    read = [_plain(one) for one in (*sources.texts.values(), *(p.text for p in sources.passages))]
    quote = _plain(citation.quote)
    if quote and any(quote in one for one in read):
        return "misattributed"
    if quote and _stitched(quote, read):
        return "stitched"
    # Where nothing is known of what was read, the document may have said it.
    return "stale" if text is None and not sources.passages else "fabricated"


def _says(text: str, quote: str, start: int, end: int) -> bool:
    return 0 <= start < end <= len(text) and text[start:end] == quote


def _goes_on(text: str, at: int) -> bool:
    """Whether a word or a number stands on both sides: one longer than a passage is cut there, and
    a part of it says something else."""
    return bool(BEFORE.search(text[max(0, at - 2) : at]) and AFTER.match(text[at : at + 2]))


def _was_there(citation: Citation, sources: Sources) -> bool:
    """Whether a passage, as it was found, said the quote at these offsets."""
    return any(
        (p.document_id, p.revision) == (citation.document_id, citation.revision)
        and _says(p.text, citation.quote, citation.start - p.start, citation.end - p.start)
        for p in sources.passages
    )


def _plain(text: str) -> str:
    """Words alone: neither case, nor marks, nor line breaks make another quote."""
    return f" {' '.join(WORD.findall(text.casefold()))} "


def _stitched(quote: str, read: Sequence[str]) -> bool:
    """Whether it can be cut into pieces that each stand somewhere, of at least PIECE words."""
    words, cuts, end = quote.split(), {0}, 0
    for start in range(len(words)):
        end = max(start, end)  # one word fewer in front reaches at least as far
        while end < len(words) and _stands(words[start : end + 1], read):
            end += 1
        if start in cuts:
            cuts |= set(range(start + PIECE, end + 1))
    return len(words) in cuts


def _stands(words: Sequence[str], read: Sequence[str]) -> bool:
    piece = f" {' '.join(words)} "
    return any(piece in one for one in read)
