"""The question that asks back: its choices, its language, and when it is asked."""

from types import SimpleNamespace
from typing import Any

import pytest

from ingest.documents import Candidate
from nodes.clarify import choices, clarify, should_ask_back
from nodes.context import Context
from nodes.findings import Evidence, Grade, Verdict
from nodes.state import State, Turn
from tests.fakes import a_chunk

RUNTIME: Any = SimpleNamespace(context=Context())


def found(name: str, heading: str = "Price", document: str = "") -> Candidate:
    chunk = a_chunk(name, title=f"Guide {document or name}", heading=heading)
    if document:
        chunk = a_chunk(name, title=f"Guide {document}", heading=heading, document_id=document)
    return Candidate(chunk, {}, [])


def state(question: str, *graded: tuple[Candidate, float], **more: Any) -> State:
    def grade(probability: float) -> Grade:
        verdict: Verdict = "correct" if probability > 0.5 else "ambiguous"
        return Grade(verdict, probability)

    return State(
        question=question,
        standalone=question,
        candidates=[c for c, _ in graded],
        graded={c.chunk.chunk_id: grade(p) for c, p in graded},
        evidence=[Evidence(c, grade(p), 0) for c, p in graded],
        **more,
    )


TIED = [(found("a"), 0.8), (found("b"), 0.7)]


def test_asks_back_where_documents_tie() -> None:
    assert should_ask_back(state("How much does it cost?", *TIED))


@pytest.mark.parametrize(
    "unneeded",
    [
        state("How much does the gateway cost?", *TIED),
        state("How much does it cost?", (found("a"), 0.95), (found("b"), 0.04)),
        state("How much does it cost?", TIED[0]),
        state("How much does it cost?", *TIED, history=[Turn("What is a gateway?", "A box.")]),
    ],
)
def test_answers_where_it_is_clear(unneeded: State) -> None:
    assert not should_ask_back(unneeded)


def test_what_is_merely_nearest_is_no_choice() -> None:
    near = [(found("a"), 0.08), (found("b"), 0.06)]
    assert not should_ask_back(state("Wer ist der Vorsitzende?", *near))
    naming = found("c", "Der Vorsitzende"), found("d", "Vorsitzende")
    graded = zip(naming, (0.08, 0.06), strict=True)
    asked = state("Wer ist der Vorsitzende?", *near, *graded)
    assert choices(asked) == ["Guide c > Der Vorsitzende", "Guide d > Vorsitzende"]
    assert should_ask_back(asked)


def test_choices_are_documents_and_headings_within_a_single_one() -> None:
    two = state("?", (found("a"), 0.8), (found("b"), 0.7), (found("c", "Size", "doc-a"), 0.6))
    assert choices(two) == ["Guide a > Price", "Guide b > Price"]
    one = state("?", (found("a", "Price", "d"), 0.8), (found("b", "Size", "d"), 0.7))
    assert choices(one) == ["Guide d > Price", "Guide d > Size"]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What does it cost?", "Which of these do you mean: Guide a > Price or Guide b > Price?"),
        ("Was kostet das?", "Was davon meinen Sie: Guide a > Price oder Guide b > Price?"),
        ("¿Cuánto cuesta?", "¿A cuál de estos se refiere: Guide a > Price o Guide b > Price?"),
    ],
)
async def test_asks_in_the_language_of_the_question(question: str, asked: str) -> None:
    update = await clarify(state(question, *TIED), RUNTIME)
    assert update["outcome"] == "needs_clarification"
    assert [sentence.text for sentence in update["draft"]] == [asked]
    assert update["choices"] == ["Guide a > Price", "Guide b > Price"]
