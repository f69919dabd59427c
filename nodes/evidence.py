"""What of the evidence an answer may rest on."""

from collections.abc import Sequence

from nodes.state import Evidence, State
from nodes.trust import trust


def has_correct(evidence: Sequence[Evidence]) -> bool:
    """Enough to generate from: at least one passage graded correct."""
    return any(e.grade.verdict == "correct" for e in evidence)


def usable(state: State) -> list[Evidence]:
    """The correct evidence, and only where there is none the ambiguous.

    What the derived filters leave out, such as a superseded document, comes back in the widened
    loop: it counts only where it is correct and nothing else is. Weak and old is no answer.
    The more trusted come first, the web last.
    """
    correct = [e for e in state.evidence if e.grade.verdict == "correct"]
    current = [
        e for e in correct or state.evidence if state.derived_filters.admit(e.candidate.chunk)
    ]
    return sorted(current or correct, key=lambda e: -trust(e.candidate))
