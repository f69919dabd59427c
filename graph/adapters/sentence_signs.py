"""Signs that one sentence of a passage states what a question asks for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.adapters.question_signs import VALUE, AskedQuestion, missing, share, text_stems
from ingest.documents import Chunk
from ingest.passage_vectors import PassageVectors
from ingest.ports import Vector
from ingest.sentences import asks, sentence_spans
from nodes.answer_type import asks_of_several, holds_type
from nodes.answer_words import NEEDS_ITS_KIND
from nodes.asked_slot import of_another_thing, slots_of
from nodes.asked_year import of_another_year

NEIGHBOURHOOD = 120
"""Code points before a sentence that may name what it speaks of."""


@dataclass(frozen=True)
class SentenceSigns:
    """`chunk.text[start:end]` and its named signs.

    `holds` where it has the expected kind of answer; `eligible` where it may be one at all. `names`
    are the stems of the question that it has, or that stand above it.
    """

    start: int
    end: int
    text: str
    holds: bool
    eligible: bool
    names: frozenset[str]
    signs: dict[str, float]


def sentence_signs(
    question: AskedQuestion, chunk: Chunk, vectors: PassageVectors | None
) -> list[SentenceSigns]:
    """Each quotable unit of the passage, in order; without `vectors` only the signs of words.

    Cosines are in [-1, 1], shares in [0, 1]; `around` counts the heading and what stands before. A
    question, the title itself and what is said of another year or thing answer nothing; what holds
    no new word answers yes or no alone.
    """
    head = f"{chunk.title} {chunk.heading}"
    above = text_stems(head, question.language)
    whole = text_stems(chunk.text, question.language)
    spans = sentence_spans(chunk.text)
    by_words = [_word_signs(question, chunk.text, head, start, end) for start, end in spans]
    by_vectors = _vector_signs(question, vectors, spans) if vectors else [{}] * len(spans)
    headings = {part.strip().lower() for part in (chunk.title, *chunk.heading.split(" > "))}
    found = []
    for (start, end), words, late in zip(spans, by_words, by_vectors, strict=True):
        text = chunk.text[start:end]
        holds = not words["lacks_kind"]
        named = question.subject & (above | text_stems(text, question.language))
        eligible = (
            (holds or question.kind not in NEEDS_ITS_KIND)
            and not asks(text)
            and text.strip("#*. ").lower() not in headings
            and (words["new_words"] > 0 or question.kind == "yes_no")
            and not of_another_year(text, head=head, asked=question.years)
            and not _of_another_thing(question, text, whole | above)
        )
        found.append(SentenceSigns(start, end, text, holds, eligible, named, words | late))
    return found


def _of_another_thing(question: AskedQuestion, text: str, around: set[str]) -> bool:
    single = question.kind in NEEDS_ITS_KIND and not asks_of_several(question.text)
    if not question.slots or not single:
        return False
    said = text_stems(text, question.language)
    return of_another_thing(
        question.slots, slots_of(text, question.language), said=said, around=around
    )


def _word_signs(
    question: AskedQuestion, passage: str, head: str, start: int, end: int
) -> dict[str, float]:
    text = passage[start:end]
    stems = text_stems(text, question.language)
    around = text_stems(passage[max(0, start - NEIGHBOURHOOD) : start], question.language)
    named = f"{head} {text}"
    return {
        "coverage": share(question.stems, stems),
        "around": share(question.stems, stems | around | text_stems(head, question.language)),
        "lacks_kind": float(not holds_type(text, question.kind, question.text)),
        "asks_other": float(question.kind == "other"),
        "new_value": float(bool(set(VALUE.findall(text)) - question.values)),
        "literals_missing": missing(question.literals, named.lower()),
        "names_missing": missing(question.names, named.lower()),
        "numbers_missing": missing(question.numbers, named),
        "new_words": float(np.log1p(len(stems - question.stems))),
    }


def _vector_signs(
    question: AskedQuestion, vectors: PassageVectors, spans: list[tuple[int, int]]
) -> list[dict[str, float]]:
    asked = question.tokens if question.tokens is not None else np.zeros((0, 1), np.float32)
    tokens = vectors.tokens
    similar = asked @ tokens.T if len(asked) else np.zeros((0, len(tokens)), np.float32)
    whole = _mean(similar.max(axis=1) if similar.size else None)
    found = []
    for start, end in spans:
        inside = (vectors.offsets[:, 0] >= start) & (vectors.offsets[:, 1] <= end)
        late = similar[:, inside].max(axis=1) if inside.any() and len(asked) else None
        found.append(
            {
                "late": _mean(late),
                "late_weakest": weakest(late),
                "late_lost": whole - _mean(late),
                "cosine": _cosine(question.sentence, tokens, inside),
            }
        )
    return found


def weakest(late: Vector | None) -> float:
    """The mean of the lowest third: what of the question has no counterpart."""
    if late is None or not len(late):
        return 0.0
    return float(np.sort(late)[: max(1, len(late) // 3)].mean())


def _mean(late: Vector | None) -> float:
    return float(late.mean()) if late is not None and len(late) else 0.0


def _cosine(question: Vector | None, tokens: Vector, inside: NDArray[np.bool_]) -> float:
    if question is None or not inside.any():
        return 0.0
    mean = tokens[inside].mean(axis=0)
    return float(mean @ question / max(float(np.linalg.norm(mean)), 1e-12))
