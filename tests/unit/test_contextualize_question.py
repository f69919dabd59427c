"""A follow-up stands alone by the words before it; without history nothing is changed."""

from typing import Any

import pytest

from nodes.contextualize_question import MAX_TERMS, contextualize_question
from nodes.state import State, Turn

RUNTIME: Any = None
TURN = Turn("How do I return a V2a gateway?", "By the form.")


async def standalone(question: str, *history: Turn, turns: list[Turn] | None = None) -> str:
    state = State(question=question, history=list(history), turns=turns or [])
    return (await contextualize_question(state, RUNTIME))["standalone"]


@pytest.mark.parametrize("question", ["Yes, B1 please", "And how long?", "it?", "x", "  padded  "])
async def test_without_history_the_question_is_itself(question: str) -> None:
    assert await standalone(question) == question.strip()


@pytest.mark.parametrize(
    "question", ["And how long does it take?", "Yes, B1 please", "What about that?", "Und dann?"]
)
async def test_a_follow_up_takes_the_words_before_it(question: str) -> None:
    found = await standalone(question, TURN)
    assert found.startswith(question)
    assert "V2a" in found
    assert "gateway" in found


@pytest.mark.parametrize(
    "question",
    [
        "How many days of parental leave do employees get?",
        "Wie viele Tage Elternzeit bekommen Beschäftigte insgesamt?",
        "¿Cuántos días de permiso parental reciben los empleados?",
        "Wie lange dauert das Onboarding neuer Beschäftigter?",
        "¿Cuál es el plazo de devolución del hardware?",
    ],
)
async def test_a_question_that_stands_alone_is_not_changed(question: str) -> None:
    assert await standalone(question, TURN) == question


async def test_a_chain_of_follow_ups_reaches_back_to_its_subject() -> None:
    found = await standalone("And the cost?", TURN, Turn("And how long?", "Five days."))
    assert "gateway" in found


async def test_an_earlier_subject_does_not_come_along() -> None:
    earlier = Turn("Who approves parental leave for employees?", "HR.")
    assert "parental" not in await standalone("And how long?", earlier, TURN)


async def test_the_words_taken_over_are_few_and_not_repeated() -> None:
    long = Turn("return " + " ".join(f"term{n}" for n in range(30)), "x")
    found = await standalone("and return it?", long)
    terms = found[found.index("(") + 1 : -1].split()
    assert len(terms) == len(set(terms)) == MAX_TERMS
    assert "return" not in terms


async def test_what_a_thread_remembers_comes_before_the_history_sent_along() -> None:
    found = await standalone(
        "And how long?", Turn("Who signs the travel expense form?", "x"), turns=[TURN]
    )
    assert "travel" in found
    assert "gateway" not in found


@pytest.mark.parametrize("question", ["Thanks!", "2 + 2", "who are you?"])
async def test_a_pleasantry_leans_on_nothing(question: str) -> None:
    assert await standalone(question, TURN) == question


async def test_the_question_itself_is_never_changed() -> None:
    state = State(question="And how long?", history=[TURN])
    assert "question" not in await contextualize_question(state, RUNTIME)
