"""What stands around a passage: a generator reads it too, where `around` is set."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.scope import Scope
from ingest.sentences import sentence_spans
from nodes.findings import Evidence, Grade, Stated
from nodes.ports import SourceTexts

Texts = Mapping[tuple[str, str], str]
"""Stored texts by document id and revision."""


async def read_around(
    texts: SourceTexts, scope: Scope, base: str, evidence: Sequence[Evidence]
) -> Texts:
    """The documents of the passages, as they are stored; the web has none."""
    chunks = [one.candidate.chunk for one in evidence if not one.candidate.url]
    keys = dict.fromkeys((chunk.document_id, chunk.revision) for chunk in chunks)
    found = {key: await texts.text(scope, base, *key) for key in keys}
    return {key: text for key, text in found.items() if text is not None}


def widened(evidence: Sequence[Evidence], texts: Texts, around: int) -> list[Evidence]:
    """Each passage with the whole sentences that stand within `around` code points of it.

    Offsets in its document stay true, so that what is cited of the neighbours can be checked.
    """
    return [_wider(one, texts, around) for one in evidence]


def _wider(one: Evidence, texts: Texts, around: int) -> Evidence:
    chunk = one.candidate.chunk
    text = texts.get((chunk.document_id, chunk.revision), "")
    if one.candidate.url or text[chunk.start : chunk.end] != chunk.text:
        return one
    start = _before(text, chunk.start, around)
    end = _after(text, chunk.end, around)
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


def _before(text: str, start: int, around: int) -> int:
    """Where the first sentence begins that is whole within `around`."""
    begin = max(0, start - around)
    spans = sentence_spans(text[begin:start])
    if begin and spans:
        spans = spans[1:]  # it may be the rest of one
    return begin + spans[0][0] if spans else start


def _after(text: str, end: int, around: int) -> int:
    last = min(len(text), end + around)
    spans = sentence_spans(text[end:last])
    if last < len(text) and spans:
        spans = spans[:-1]
    return end + spans[-1][1] if spans else end


def _grade(grade: Grade, shift: int) -> Grade:
    stated = None if grade.stated is None else _shifted(grade.stated, shift)
    sentences = None if grade.sentences is None else _shifted(grade.sentences, shift)
    return replace(grade, stated=stated, sentences=sentences)


def _shifted(spans: Sequence[Stated], shift: int) -> list[Stated]:
    return [replace(span, start=span.start + shift, end=span.end + shift) for span in spans]
