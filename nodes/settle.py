"""Where documents answer differently: the newer is told, or each side with how many say it."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.documents import Candidate
from ingest.sentences import sentence_spans
from nodes.answer_values import stated_values
from nodes.asked_time import asks_for_before
from nodes.citations import cite, renumbered
from nodes.conflicts import Statement, agree, contradict, newer, same_title, sources
from nodes.findings import Evidence, Sentence
from nodes.instructions import is_instruction
from nodes.layout import unmarked
from nodes.notes import named, replaces_note, side_note, status_note
from nodes.trust import trust

NEAR = 4.5
"""Log odds below the told side's passage from which another passage has a say, 1 to 90. Far
below what may answer alone, since it can only add a doubt: on tuning questions of PoisonedRAG the
planted answer stood alone in 6 of 60 runs with it, and in 10 with 2.5."""

SIDES = 3
"""Sides that are told at most; an answer with more is no answer to anybody."""

DISAGREE = "the documents disagree"
"""For the trace; what is told says so in the question's language."""

QUOTED = 160
"""Code points of an older text that a note repeats."""


@dataclass(frozen=True)
class Settled:
    """What is told, and why it is no full answer, or nothing. `older` sides were left out for newer
    ones, or for the older ones that were asked for."""

    sentences: list[Sentence]
    reservation: str = ""
    older: int = 0


@dataclass(frozen=True)
class _Side:
    """One answer: the sentences of the draft that give it, and every statement of it."""

    told: list[Sentence]
    statements: list[Statement]

    @property
    def best(self) -> Candidate:
        return self.statements[0].candidate


def settle(
    question: str,
    told: Sequence[Sentence],
    evidence: Sequence[Evidence],
    *,
    by_date: bool,
    rejected: Sequence[str] = (),
) -> Settled:
    """The draft with the other side, where the evidence has one that was left out.

    With `by_date` a side that another replaces is not told; the newer one's note says what it says.
    Of a question for what was before, the one that replaces another is not told. Else all sides
    are, the more trusted sources' first, then the newer, then the one that more independent ones
    give, and each note says how many do: no side alone as plain fact.
    """
    sides, beside = _sides(question, told, evidence, rejected)
    if len(sides) < 2:
        return Settled(list(told))
    if asks_for_before(question):
        standing = [s for s in sides if not any(_replaces(s, o) for o in sides)]
    else:
        standing = [s for s in sides if not (by_date and any(_replaces(o, s) for o in sides))]
    older = [side for side in sides if side not in standing]
    age = {id(s): sum(by_date and newer(s.best, o.best) for o in standing) for s in standing}
    standing.sort(key=lambda side: (-_trust(side), -age[id(side)], -_count(side)))
    total = sum(map(_count, standing))
    del standing[SIDES:]
    lines: list[Sentence] = []
    for side in standing:
        notes = [_newer_than(o, question) for o in older if _replaces(side, o)]
        if len(standing) > 1:
            notes.append(side_note(_count(side), total, _dated(side, question), question))
        first, *more = side.told or [_quoted(side.statements[0], question)]
        note = "; ".join(filter(None, [first.note, *notes]))
        lines += [replace(first, note=note), *more]
    kept = renumbered([*lines, *beside])
    return Settled(kept, DISAGREE if len(standing) > 1 else "", len(older))


def _sides(
    question: str, told: Sequence[Sentence], evidence: Sequence[Evidence], rejected: Sequence[str]
) -> tuple[list[_Side], list[Sentence]]:
    """The answers that deny each other, the draft's first, and what of the draft is in none."""
    places = {e.candidate.chunk.chunk_id: e.candidate for e in evidence}
    sides: list[_Side] = []
    beside: list[Sentence] = []
    for sentence in told:
        cited = [places[c.chunk_id] for c in sentence.citations if c.chunk_id in places]
        statements = [Statement(sentence.text, candidate) for candidate in cited]
        values = stated_values(sentence.text, question)
        side = _joined(question, sides, statements) if statements and values else None
        if side is None:
            beside.append(sentence)
        else:
            side.told.append(sentence)
    if sides:
        heard = {s.candidate.chunk.document_id for side in sides for s in side.statements}
        for statement in _others(question, sides[0], evidence):
            document = statement.candidate.chunk.document_id
            silent = document in heard or statement.text in rejected
            if not silent and _joined(question, sides, [statement]):
                heard.add(document)
    return sides, beside


def _joined(question: str, sides: list[_Side], statements: list[Statement]) -> _Side | None:
    """The side that they belong to, a new one where they deny all others; None where neither."""
    first = statements[0]
    for side in sides:
        if agree(question, first, side.statements[0]):
            side.statements.extend(statements)
            return side
    if all(contradict(question, first, side.statements[0]) for side in sides):
        sides.append(_Side([], list(statements)))
        return sides[-1]
    return None


def _others(question: str, lead: _Side, evidence: Sequence[Evidence]) -> list[Statement]:
    """What passages near the told one state, the most probable first: sentences with a value."""
    grades = {e.candidate.chunk.chunk_id: e.grade.probability or 0.0 for e in evidence}
    bar = _log_odds(max(grades[s.candidate.chunk.chunk_id] for s in lead.statements)) - NEAR
    found: list[tuple[float, Statement]] = []
    for e in evidence:
        text = e.candidate.chunk.text
        judged = e.grade.sentences or []
        if _log_odds(max((one.probability for one in judged), default=0.0)) < bar:
            continue
        for one in judged:
            statement = Statement(text[one.start : one.end], e.candidate)
            if stated_values(statement.text, question):
                found.append((one.probability, statement))
    found.sort(key=lambda pair: (-pair[0], pair[1].candidate.chunk.chunk_id))
    return [statement for _, statement in found]


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))


def _replaces(side: _Side, other: _Side) -> bool:
    """Whether it is the newer of one document's versions, or of what is current and what is not: a
    later date of another document is no sign that it replaces this one."""
    related = same_title(side.best, other.best) or _is_current(side) != _is_current(other)
    return related and newer(side.best, other.best) and trust(side.best) >= trust(other.best)


def _is_current(side: _Side) -> bool:
    return side.best.chunk.metadata.get("status", "current") == "current"


def _dated(side: _Side, question: str) -> str:
    known = side.best.chunk.metadata.keys() & {"effective", "version"}
    return named(side.best, question) if known else ""


def _trust(side: _Side) -> int:
    return max(trust(statement.candidate) for statement in side.statements)


def _count(side: _Side) -> int:
    return sources([statement.candidate for statement in side.statements])


def _quoted(statement: Statement, question: str) -> Sentence:
    start = statement.candidate.chunk.text.index(statement.text)
    citation = cite(statement.candidate, start, start + len(statement.text), 1)
    return Sentence(statement.text, [citation], status_note(statement.candidate, question))


def _newer_than(side: _Side, question: str) -> str:
    """With the older passage's own words: no check reads what a draft makes of it. Nothing where it
    has none to quote."""
    for stated in side.statements:
        text = stated.candidate.chunk.text
        own = [stated.text] if stated.text in text else []
        own += [text[start:end] for start, end in sentence_spans(text)]
        for words in own:
            same = agree(question, stated, replace(stated, text=words))
            if same and not is_instruction(words):
                said = textwrap.shorten(unmarked(words), QUOTED, placeholder=" …")
                return replaces_note(side.best, said, question)
    return ""
