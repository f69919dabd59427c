"""The answer object: one shape on every way in, every key always present."""

import textwrap
from dataclasses import asdict, dataclass, field
from typing import Any

from ingest.documents import Candidate
from nodes.bases import routed_to
from nodes.check_grounding import shown
from nodes.context import Context
from nodes.findings import Citation
from nodes.instructions import without_orders
from nodes.nearest import nearest
from nodes.notes import not_found
from nodes.parts import unanswered
from nodes.safe_sentences import plain
from nodes.state import Degraded, Outcome, Reason, State, TraceEntry

SHOWN = 240
"""Code points of a passage's beginning that are shown with it."""


@dataclass(frozen=True)
class Answer:
    """What a run ends in; INTERFACES of each way in show exactly this.

    `answer` carries citation numbers as `[n]`; a refusal says what would help. `confidence` is the
    probability in [0, 1] that the answer is right and supported. `grounding` has the verdict of
    each sentence, with probabilities in [0, 1]. `timings` are
    milliseconds.
    """

    run_id: str
    question: str
    outcome: Outcome
    reason: Reason | None
    answer: str
    citations: list[Citation]
    grounding: dict[str, Any]
    searched: dict[str, Any]
    degraded: list[Degraded]
    budget: dict[str, Any]
    timings: dict[str, Any]
    trace: list[TraceEntry]
    versions: dict[str, str]
    confidence: float | None = None
    choices: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def answer_from(
    state: State, context: Context, *, run_id: str, versions: dict[str, str], total_ms: float
) -> Answer:
    """The answer of a finished run."""
    if state.outcome is None:
        raise ValueError("the run has not ended")
    return Answer(
        run_id=run_id,
        question=state.question,
        outcome=state.outcome,
        reason=state.reason,
        answer="\n".join([*(shown(sentence) for sentence in state.draft), *_missing(state)]),
        confidence=_confidence(state),
        choices=state.choices,
        suggestions=state.suggestions,
        citations=[c for sentence in state.draft for c in sentence.citations],
        grounding=_grounding(state),
        searched=_searched(state),
        degraded=state.degraded,
        budget=_budget(state, context),
        timings=_timings(state, total_ms),
        trace=state.trace,
        versions=versions,
    )


def _missing(state: State) -> list[str]:
    """Which part of the question has no answer; a refusal says so of all of it."""
    if state.outcome not in ("answered", "answered_partially"):
        return []
    line = not_found(unanswered(state.queries, state.draft))
    return [line] if line else []


def _confidence(state: State) -> float | None:
    """Right, and supported as the weakest sentence is; None without an answer or a calibration."""
    if state.confidence is None or state.outcome not in ("answered", "answered_partially"):
        return None
    return round(state.confidence * min((s.probability for s in state.supports), default=1.0), 4)


def _grounding(state: State) -> dict[str, Any]:
    if state.outcome not in ("answered", "answered_partially"):
        return {"supported": None, "sentences": []}
    return {
        "supported": all(support.supported for support in state.supports),
        "sentences": [
            asdict(support) | {"supported": support.supported} for support in state.supports
        ],
    }


def _searched(state: State) -> dict[str, Any]:
    grades = [g.probability for g in state.graded.values() if g.probability is not None]
    return {
        "queries": [asdict(query) for query in state.queries],
        "knowledge_bases": routed_to(state) if state.queries else [],
        "web": bool(state.web_sent),
        "web_sent": state.web_sent,
        "candidates": len(state.candidates_seen),
        "graded": len(state.graded),
        "best_grade": max(grades, default=None),
        "instruction_like": state.instructions,
        "nearest": [_near(candidate, state) for candidate in nearest(state)],
    }


def _near(candidate: Candidate, state: State) -> dict[str, Any]:
    chunk = candidate.chunk
    grade = state.graded.get(chunk.chunk_id)
    return {
        "title": chunk.title,
        "heading": chunk.heading,
        "page": chunk.page,
        "source": candidate.url or chunk.metadata.get("source", ""),
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "text": textwrap.shorten(plain(without_orders(chunk.text)), SHOWN, placeholder=" …"),
        "grade": grade.probability if grade is not None else None,
    }


def _budget(state: State, context: Context) -> dict[str, Any]:
    return {
        "rewrites": {"used": state.spent.rewrites, "limit": context.rewrites},
        "chat_calls": {"used": state.spent.chat_calls, "limit": context.chat_calls},
        "tokens": {"used": state.spent.tokens, "limit": context.tokens},
        "deadline_s": context.deadline_s,
        "usd": round(state.spent.usd, 6),
    }


def _timings(state: State, total_ms: float) -> dict[str, Any]:
    nodes: dict[str, float] = {}
    for entry in state.trace:
        nodes[entry.node] = round(nodes.get(entry.node, 0.0) + entry.ms, 3)
    return {"total_ms": round(total_ms, 3), "nodes": nodes}
