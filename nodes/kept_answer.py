"""What an answer cache keeps of a run, and which runs are worth it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.documents import Candidate
from nodes.findings import Grade, Sentence, Support
from nodes.nearest import nearest
from nodes.state import Query, State, Update

SURE = 0.5
"""Confidence that an answer needs to be kept, in [0, 1]: what is as likely wrong is asked anew."""


@dataclass(frozen=True)
class KeptAnswer:
    """All that the answer object tells of a run. `kept_at` is in seconds since the epoch.

    `documents` are the (document id, revision) of all that the answer was read from or shows:
    who may not read each of them now is not served it.
    """

    question: str
    kept_at: float
    draft: list[Sentence]
    supports: list[Support]
    confidence: float
    queries: list[Query]
    candidates_seen: list[str]
    graded: dict[str, Grade]
    near: list[Candidate]
    documents: list[tuple[str, str]]


@dataclass(frozen=True)
class FoundAnswer:
    """`similarity` of its question to the one asked, a cosine in [-1, 1]; 1 for the same words."""

    answer: KeptAnswer
    similarity: float


def worth_keeping(state: State) -> bool:
    """Whether it was asked for at the cache, and is a full, sure answer from documents alone, with
    nothing degraded, and with no passage about that gives orders to a model."""
    return (
        bool(state.cache_key)
        and state.outcome == "answered"
        and not (state.degraded or state.failed or state.reservations or state.instructions)
        and not (state.web_searched or state.web_sent)
        and all(c.kind == "document" for s in state.draft for c in s.citations)
        and state.confidence is not None
        and state.confidence * _weakest(state.supports) >= SURE
    )


def kept_answer(state: State, now: float) -> KeptAnswer:
    """What is kept of a run that is worth it, at `now`, in seconds since the epoch."""
    near = nearest(state)
    read = [e.candidate.chunk for e in state.evidence] + [c.chunk for c in near]
    places = [(chunk.document_id, chunk.revision) for chunk in read]
    places += [(c.document_id, c.revision) for s in state.draft for c in s.citations]
    return KeptAnswer(
        question=state.standalone,
        kept_at=now,
        draft=state.draft,
        supports=state.supports,
        confidence=state.confidence or 0.0,
        queries=state.queries,
        candidates_seen=state.candidates_seen,
        graded={key: _verdict(grade) for key, grade in state.graded.items()},
        near=near,
        documents=list(dict.fromkeys(places)),
    )


def restored(kept: KeptAnswer) -> Update:
    """The state that such a run ended in, as far as an answer tells of it."""
    return {
        "draft": kept.draft,
        "kept": kept.draft,
        "supports": kept.supports,
        "confidence": kept.confidence,
        "queries": kept.queries,
        "candidates_seen": kept.candidates_seen,
        "candidates": kept.near,
        "graded": kept.graded,
        "outcome": "answered",
    }


def _weakest(supports: Sequence[Support]) -> float:
    return min((support.probability for support in supports), default=1.0)


def _verdict(grade: Grade) -> Grade:
    return replace(grade, signs={}, stated=None, sentences=None)
