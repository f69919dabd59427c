"""What of the evidence an answer may rest on."""

from collections.abc import Sequence
from datetime import date

from ingest.documents import Candidate
from nodes.asked_time import asks_for_before
from nodes.conflicts import same_title
from nodes.findings import Evidence
from nodes.parts import for_part, parts_of
from nodes.state import State
from nodes.trust import trust
from nodes.versions import replaced, replacing


def has_correct(evidence: Sequence[Evidence]) -> bool:
    """Enough to generate from: at least one passage graded correct."""
    return any(e.grade.verdict == "correct" for e in evidence)


def enough(state: State) -> bool:
    """Whether nothing is left to look for: each part of the question has a correct passage."""
    return all(
        has_correct(for_part(state.evidence, part)) for part in parts_of(state.queries) or [""]
    )


def usable(state: State, part: str = "") -> list[Evidence]:
    """The correct evidence, and only where there is none the ambiguous; of one part, or of all.

    What the derived filters leave out, such as a superseded document, comes back in the widened
    loop: it counts only where it is correct and nothing else is. Weak and old is no answer, and
    where a current document of the same title speaks of it under the same heading, that one is read
    in its place: what was allowed may be forbidden now. The more trusted come first, the web last.
    """
    evidence = for_part(state.evidence, part)
    correct = [e for e in evidence if e.grade.verdict == "correct"]
    current = [e for e in correct or evidence if state.derived_filters.admit(e.candidate.chunk)]
    if not current:
        current = [
            e
            for e in evidence
            if state.derived_filters.admit(e.candidate.chunk)
            and any(_same_section(e.candidate, old.candidate) for old in correct)
        ]
    return sorted(current or correct, key=lambda e: -trust(e.candidate))


def _same_section(one: Candidate, other: Candidate) -> bool:
    return one.chunk.heading == other.chunk.heading and same_title(one, other)


def before(
    question: str, evidence: Sequence[Evidence], today: date
) -> tuple[list[Evidence], dict[str, Candidate]]:
    """Of a question for what was, the evidence without the documents that replace another of it by
    that day, and those others by document id; of another question all of it, and none."""
    candidates = [e.candidate for e in evidence]
    newest = replacing(candidates, today) if asks_for_before(question) else set()
    if not newest:
        return list(evidence), {}
    old = replaced(candidates, today)
    kept = [e for e in evidence if e.candidate.chunk.document_id not in newest]
    found = {c.chunk.document_id: c for c in candidates if c.chunk.document_id in old}
    return kept, found
