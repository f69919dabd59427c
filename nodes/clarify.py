"""Asks back, where a question may mean several things that were found."""

from collections.abc import Iterator

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from nodes.confidence import log_odds
from nodes.context import Context
from nodes.findings import Sentence
from nodes.nearest import label, place
from nodes.state import State, Update
from nodes.underspecified import underspecified
from nodes.words import guess_language, stem, stems, words

MOST = 4
"""Choices of one question: more are a list to search in."""

READ = 10
"""Candidates, best first, that the choices are taken from."""

ALONE = 4.0
"""Log odds by which a correct passage stands above those of every other document, so that it is
what was meant: odds of 55 to 1. A question without its subject is graded by the rest of its words,
so that a small lead says little."""

UNNAMED = 0.25
"""Grade from which a passage without any word of the question is a choice, too: odds of 1 to 3."""

BEGINNING = 60
"""Code points of a passage that stand for it where it has no title."""

ASK = {
    "en": ("Which of these do you mean: {choices}?", "or"),
    "de": ("Was davon meinen Sie: {choices}?", "oder"),
    "es": ("¿A cuál de estos se refiere: {choices}?", "o"),
}


async def clarify(state: State, runtime: Runtime[Context]) -> Update:
    """Outcome needs_clarification, with the question to answer and its choices."""
    language = guess_language(state.standalone)
    found = choices(state)
    asked, last = ASK[language]
    named = f"{', '.join(found[:-1])} {last} {found[-1]}"
    return {
        "draft": [Sentence(asked.format(choices=named), [])],
        "choices": found,
        "outcome": "needs_clarification",
        "summary": {"choices": found},
    }


def should_ask_back(state: State) -> bool:
    """Whether the question lacks what it is about, several documents would fit, and none of them
    stands out."""
    said = [f"{turn.question} {turn.answer}" for turn in [*state.turns, *state.history]]
    if not underspecified(state.question, said):
        return False
    return not _one_stands_out(state) and len(choices(state)) >= 2


def choices(state: State) -> list[str]:
    """What the best candidates that could be meant are called, one for each document, at most MOST;
    headings where all are of one document."""
    read = [c for c in state.candidates[:READ] if _could_be_meant(state, c)]
    documents = {c.chunk.document_id for c in reversed(read)}
    if len(documents) > 1:
        first = {c.chunk.document_id: c for c in reversed(read)}
        read = [c for c in read if first[c.chunk.document_id] is c]
    return list(dict.fromkeys(_called(read)))[:MOST]


def _could_be_meant(state: State, candidate: Candidate) -> bool:
    """Whether it holds a word of the question, or may well answer it without: what is merely the
    nearest in the base is no choice."""
    chunk = candidate.chunk
    grade = state.graded.get(chunk.chunk_id)
    if grade is not None and grade.verdict == "incorrect":
        return False
    language = guess_language(state.standalone)
    held = {stem(word, language) for word in words(f"{chunk.title} {chunk.heading} {chunk.text}")}
    asked = set(stems(state.standalone, language))
    probability = grade.probability if grade is not None else None
    return bool(asked & held) or (probability or 0.0) >= UNNAMED


def _called(candidates: list[Candidate]) -> Iterator[str]:
    for candidate in candidates:
        text = " ".join(candidate.chunk.text.split())
        shown = place(candidate) or label(text[:BEGINNING] + "…" * (len(text) > BEGINNING))
        if shown:
            yield shown


def _one_stands_out(state: State) -> bool:
    if not state.evidence or state.evidence[0].grade.verdict != "correct":
        return False
    best = state.evidence[0]
    others = [
        log_odds(grade)
        for candidate in state.candidates
        if (grade := state.graded.get(candidate.chunk.chunk_id)) is not None
        and candidate.chunk.document_id != best.candidate.chunk.document_id
    ]
    return log_odds(best.grade) - max(others, default=-ALONE) >= ALONE
