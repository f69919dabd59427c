"""Grades the best candidates that no loop has graded before, and keeps the evidence of all."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.findings import Evidence, Grade
from nodes.instructions import instruction_spans
from nodes.nearest import found_at
from nodes.parts import parts_of
from nodes.ports import GradedPassages, Grader
from nodes.state import Degraded, State, Update

NEARNESS = 4.0
"""Log odds by which the reranker's first is ahead of its last: the grade tells whether a passage
answers, the reranker orders better. Chosen on the tuning sides (eval/BENCHMARKS.md)."""
LEAST = 1e-4


async def grade_documents(state: State, runtime: Runtime[Context], *, grader: Grader) -> Update:
    """Grades at most `keep` candidates, for each part of a question that has several. A grader that
    fails grades nothing: it fails closed."""
    context = runtime.context or DEFAULTS
    new = [c for c in state.candidates if c.chunk.chunk_id not in state.graded]
    chosen = new[: context.keep]
    parts = parts_of(state.queries)
    graded, faults = await or_fallback(
        _graded(grader, state, parts or [state.standalone], chosen, context),
        None,
        node="grade_documents",
        fallback="no passage counts as evidence",
    )
    if graded is None:
        failed = "the passages could not be graded"
        return {
            "failed": failed,
            "degraded": [*state.degraded, *faults],
            "summary": {"error": failed},
        }
    pairs = [(c, g) for c, g in zip(chosen, graded[0].grades, strict=True) if g is not None]
    unread = len(chosen) - len(pairs)
    degraded = [*state.degraded, *faults, *_notes(graded[0], unread, state.degraded)]
    found = [Evidence(c, g, state.spent.rewrites) for c, g in pairs if g.verdict != "incorrect"]
    if parts:
        by_part = {part: one.grades for part, one in zip(parts, graded[1:], strict=True)}
        places = {c.chunk.chunk_id: n for n, c in enumerate(chosen)}
        found = [
            replace(one, parts=_of_parts(by_part, places[one.candidate.chunk.chunk_id]))
            for one in found
        ]
    giving_orders = [_named(c) for c in chosen if instruction_spans(c.chunk.text)]
    orders = [*state.instructions, *(one["chunk_id"] for one in giving_orders)]
    return {
        "instructions": list(dict.fromkeys(orders)),
        "graded": state.graded | {c.chunk.chunk_id: g for c, g in pairs},
        "evidence": sorted([*state.evidence, *found], key=_best_first),
        "new_chunks": len(new),
        "proposed": graded[0].query if not parts else "",
        "degraded": degraded,
        "summary": {"graded": [_shown(c, g) for c, g in pairs], "no_verdict": unread}
        | ({"instruction-like": giving_orders} if giving_orders else {})
        | ({"proposed": graded[0].query} if graded[0].query and not parts else {}),
    }


async def _graded(
    grader: Grader, state: State, asked: Sequence[str], chosen: list[Candidate], context: Context
) -> list[GradedPassages]:
    """The best grades over all that is asked, then, for several parts, those of each."""
    each = [await _checked(grader, state, one, chosen, context) for one in asked]
    if len(each) == 1:
        return each
    columns = zip(*(one.grades for one in each), strict=True)
    best = [max(filter(None, column), key=_rank, default=None) for column in columns]
    return [replace(next((e for e in each if e.degraded), each[0]), grades=best), *each]


def _rank(grade: Grade) -> tuple[int, float]:
    return ("incorrect", "ambiguous", "correct").index(grade.verdict), grade.probability or 0.0


def _of_parts(by_part: Mapping[str, Sequence[Grade | None]], place: int) -> dict[str, Grade]:
    grades = {part: column[place] for part, column in by_part.items()}
    return {part: g for part, g in grades.items() if g is not None and g.verdict != "incorrect"}


async def _checked(
    grader: Grader, state: State, asked: str, chosen: list[Candidate], context: Context
) -> GradedPassages:
    if not chosen:
        return GradedPassages([])
    graded = await grader.grade(
        asked,
        chosen,
        among=state.candidates,
        upper=context.upper,
        lower=context.lower,
    )
    if len(graded.grades) != len(chosen):
        raise ValueError(f"{len(graded.grades)} grades for {len(chosen)} passages")
    return replace(graded, grades=[_enumerated(g) for g in graded.grades])


def _enumerated(grade: object) -> Grade | None:
    """Anything but a Grade with a known verdict and a probability, if any, is no verdict."""
    if not isinstance(grade, Grade) or grade.verdict not in ("correct", "ambiguous", "incorrect"):
        return None
    known = grade.probability is None or isinstance(grade.probability, int | float)
    return grade if known and 0 <= (grade.probability or 0) <= 1 else None


def _notes(graded: GradedPassages, unread: int, before: Sequence[Degraded]) -> list[Degraded]:
    notes = []
    if graded.degraded:
        notes.append(Degraded("grade_documents", graded.kind, graded.fallback, graded.degraded))
    if unread:
        detail = f"{unread} passages got no verdict"
        notes.append(
            Degraded("grade_documents", "no_verdict", "the passages are no evidence", detail)
        )
    return [note for note in notes if note not in before]


def _best_first(evidence: Evidence) -> tuple[bool, float, str]:
    """Correct ones first; among them by the log odds of the grade and the reranker's order."""
    correct = evidence.grade.verdict == "correct"
    probability = min(max(evidence.grade.probability or 0.0, LEAST), 1 - LEAST)
    odds = math.log(probability / (1 - probability))
    near = evidence.candidate.scores.get("rerank", 0.0)
    return (not correct, -(odds + NEARNESS * near), evidence.candidate.chunk.chunk_id)


def _shown(candidate: Candidate, grade: Grade) -> dict[str, object]:
    chunk = candidate.chunk
    probability = round(grade.probability, 3) if grade.probability is not None else None
    return {
        "chunk_id": chunk.chunk_id,
        "title": chunk.title,
        "heading": chunk.heading,
        "verdict": grade.verdict,
        "probability": probability,
    }


def _named(candidate: Candidate) -> dict[str, str]:
    chunk_id = candidate.chunk.chunk_id
    return {"chunk_id": chunk_id, "place": found_at(candidate) or chunk_id}
