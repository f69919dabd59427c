"""Signs that one sentence of a passage states what a question asks for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.adapters.question_signs import AskedQuestion, missing, share, text_stems
from graph.adapters.token_vectors import PassageVectors
from ingest.documents import Chunk
from ingest.ports import Vector
from ingest.sentences import sentence_spans
from nodes.answer_type import holds_type

NEIGHBOURHOOD = 120
"""Code points before a sentence that may name what it speaks of."""


@dataclass(frozen=True)
class SentenceSigns:
    """`chunk.text[start:end]` and its named signs; `holds` where it has the expected kind."""

    start: int
    end: int
    text: str
    holds: bool
    signs: dict[str, float]


def sentence_signs(
    question: AskedQuestion, chunk: Chunk, vectors: PassageVectors
) -> list[SentenceSigns]:
    """Each quotable unit of the passage, in order.

    Cosines are in [-1, 1], shares in [0, 1]; `around` counts the heading and what stands before.
    """
    asked = question.tokens if question.tokens is not None else np.zeros((0, 1), np.float32)
    tokens = vectors.tokens.astype(np.float32)
    similar = asked @ tokens.T if len(asked) else np.zeros((0, len(tokens)), np.float32)
    passage_late = similar.max(axis=1) if similar.size else np.zeros(len(asked), np.float32)
    head = f"{chunk.title} {chunk.heading}"
    head_stems = text_stems(head, question.language)
    found = []
    for start, end in sentence_spans(chunk.text):
        text = chunk.text[start:end]
        inside = (vectors.offsets[:, 0] >= start) & (vectors.offsets[:, 1] <= end)
        late = similar[:, inside].max(axis=1) if inside.any() and len(asked) else None
        stems = text_stems(text, question.language)
        before = text_stems(chunk.text[max(0, start - NEIGHBOURHOOD) : start], question.language)
        holds = holds_type(text, question.kind)
        signs = {
            "late": _mean(late),
            "late_weakest": weakest(late),
            "late_lost": _mean(passage_late) - _mean(late),
            "cosine": _cosine(question.sentence, tokens, inside),
            "coverage": share(question.stems, stems),
            "around": share(question.stems, stems | head_stems | before),
            "holds": float(holds),
            "asks_other": float(question.kind == "other"),
            "literals_missing": missing(question.literals, f"{head} {text}".lower()),
            "names_missing": missing(question.names, f"{head} {text}".lower()),
            "numbers_missing": missing(question.numbers, f"{head} {text}"),
            "new_words": float(np.log1p(len(stems - question.stems))),
            "is_question": float(text.rstrip().endswith("?")),
        }
        found.append(SentenceSigns(start, end, text, holds, signs))
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
