"""What stands around a passage, or the section that it is of: a generator reads it too, where
`around` or `parent` is set."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.documents import Chunk
from ingest.scope import Scope
from ingest.sentences import sentence_spans
from nodes.bases import text_of
from nodes.findings import Evidence, Grade, Stated
from nodes.ports import SourceTexts

Texts = Mapping[tuple[str, str], str]
"""Stored texts by document id and revision."""


async def read_around(
    texts: SourceTexts, scope: Scope, bases: list[str], evidence: Sequence[Evidence]
) -> Texts:
    """The documents of the passages, as they are stored; the web has none."""
    chunks = [one.candidate.chunk for one in evidence if not one.candidate.url]
    keys = dict.fromkeys((chunk.document_id, chunk.revision) for chunk in chunks)
    found = {key: await text_of(texts, scope, bases, *key) for key in keys}
    return {key: text for key, text in found.items() if text is not None}


def widened(
    evidence: Sequence[Evidence], texts: Texts, around: int, *, parent: int = 0
) -> list[Evidence]:
    """Each passage with the whole sentences that stand within `around` code points of it, and with
    those of its section, `parent` code points in all at most.

    A section is read once: a later passage of what was read already stays alone. Offsets in its
    document stay true, so that what is cited of the neighbours can be checked.
    """
    wider: list[Evidence] = []
    for one in evidence:
        known = parent > 0 and any(_holds(before, one) for before in wider)
        wider.append(one if known else _wider(one, texts, around, parent))
    return wider


def _holds(before: Evidence, one: Evidence) -> bool:
    ours, theirs = before.candidate.chunk, one.candidate.chunk
    same = (ours.document_id, ours.revision) == (theirs.document_id, theirs.revision)
    return same and ours.start <= theirs.start and theirs.end <= ours.end


def _wider(one: Evidence, texts: Texts, around: int, parent: int) -> Evidence:
    chunk = one.candidate.chunk
    text = texts.get((chunk.document_id, chunk.revision), "")
    if one.candidate.url or text[chunk.start : chunk.end] != chunk.text:
        return one
    low, high = _reach(chunk, around, parent)
    start = _before(text, chunk, low)
    end = _after(text, chunk, high)
    if (start, end) == (chunk.start, chunk.end):
        return one
    shift = chunk.start - start
    strips = None
    if one.strips is not None:
        before = [Stated(0, shift, 0.0)] if shift else []
        after = [Stated(chunk.end - start, end - start, 0.0)] if end > chunk.end else []
        strips = [*before, *_shifted(one.strips, shift), *after]
    wider = replace(chunk, text=text[start:end], start=start, end=end)
    return replace(
        one,
        candidate=replace(one.candidate, chunk=wider),
        grade=_grade(one.grade, shift),
        strips=strips,
        parts={part: _grade(grade, shift) for part, grade in one.parts.items()},
    )


def _reach(chunk: Chunk, around: int, parent: int) -> tuple[int, int]:
    """How far a text may be read: `around` on both sides, or the section; of a section that is
    longer than `parent`, what is nearest."""
    low, high = chunk.start - around, chunk.end + around
    spare = parent - (chunk.end - chunk.start)
    if spare > 0:
        first, last = chunk.section
        begin = max(first, min(chunk.start - spare // 2, last - parent))
        low, high = min(low, begin), max(high, min(last, begin + parent))
    return low, high


def _before(text: str, chunk: Chunk, low: int) -> int:
    """Where the first sentence begins that is whole from `low` on."""
    begin = max(0, low)
    spans = sentence_spans(text[begin : chunk.start])
    if begin not in (0, chunk.section[0]) and spans:
        spans = spans[1:]  # it may be the rest of one
    return begin + spans[0][0] if spans else chunk.start


def _after(text: str, chunk: Chunk, high: int) -> int:
    last = min(len(text), high)
    spans = sentence_spans(text[chunk.end : last])
    if last not in (len(text), chunk.section[1]) and spans:
        spans = spans[:-1]
    return chunk.end + spans[-1][1] if spans else chunk.end


def _grade(grade: Grade, shift: int) -> Grade:
    stated = None if grade.stated is None else _shifted(grade.stated, shift)
    sentences = None if grade.sentences is None else _shifted(grade.sentences, shift)
    return replace(grade, stated=stated, sentences=sentences)


def _shifted(spans: Sequence[Stated], shift: int) -> list[Stated]:
    return [replace(span, start=span.start + shift, end=span.end + shift) for span in spans]
