"""Whether a question is about something else than the documents of a base."""

from nodes.state import State
from nodes.words import guess_language, literals

NEVER = -1.0
"""A bar that no cosine is below: where the embedder is not the one that bars were chosen for."""


def out_of_scope(state: State, bar: float) -> bool:
    """Whether no candidate comes near the question: every `dense` score, a cosine in [-1, 1], is
    below `bar`, no candidate has a code that it names, and some are in its language. What a
    filter of the asker leaves is not what the base is about."""
    if not state.candidates or state.filters.conditions:
        return False
    texts = [candidate.chunk.text for candidate in state.candidates]
    if any(
        name.casefold() in text.casefold() for name in literals(state.standalone) for text in texts
    ):
        return False
    language = guess_language(state.standalone)
    if all(guess_language(text) != language for text in texts):
        return False
    scores = [candidate.scores.get("dense") for candidate in state.candidates]
    known = [score for score in scores if score is not None]
    return bool(known) and max(known) < bar
