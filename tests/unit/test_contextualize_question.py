"""A follow-up stands alone by the words before it; without history nothing is changed."""

from typing import Any

import pytest

from nodes.contextualize_question import contextualize_question
from nodes.follow_up import MAX_TERMS, stand_alone
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


@pytest.mark.parametrize(
    ("earlier", "asked", "expected"),
    [
        (
            "How long do refunds take?",
            "And for subscriptions?",
            "How long do refunds take for subscriptions?",
        ),
        (
            "How long do refunds take?",
            "What about subscriptions?",
            "How long do refunds take for subscriptions?",
        ),
        (
            "How long do refunds take for hardware?",
            "And for the cloud plans?",
            "How long do refunds take for the cloud plans?",
        ),
        (
            "How fast do Silver clients get a reply to a call?",
            "And for Gold clients?",
            "How fast do Gold clients get a reply to a call?",
        ),
        (
            "How many desks does the office in Oslo have?",
            "What about Bergen?",
            "How many desks does the office in Bergen have?",
        ),
        (
            "Wie lange dauern Erstattungen?",
            "Und für Abonnements?",
            "Wie lange dauern Erstattungen für Abonnements?",
        ),
        (
            "¿Cuánto tardan los reembolsos?",
            "¿Y para suscripciones?",
            "¿Cuánto tardan los reembolsos para suscripciones?",
        ),
    ],
)
def test_an_elliptical_question_asks_the_earlier_one_of_something_else(
    earlier: str, asked: str, expected: str
) -> None:
    assert stand_alone(asked, [Turn(earlier, "")]) == expected


def test_a_chain_of_elliptical_questions_keeps_what_was_asked() -> None:
    said = [Turn("How long do refunds take?", "5 days."), Turn("And for hardware?", "10 days.")]
    assert stand_alone("And for subscriptions?", said) == (
        "How long do refunds take for subscriptions?"
    )


@pytest.mark.parametrize(
    "asked", ["And the cost?", "What about it?", "And for how long?", "And in which case?"]
)
def test_what_asks_for_itself_or_points_back_is_no_ellipsis(asked: str) -> None:
    assert stand_alone(asked, [Turn("How do I return a gateway?", "")]).startswith(asked + " (")


def test_names_and_what_the_answer_took_up_come_before_other_words() -> None:
    earlier = Turn(
        "Which neat tidy clever quick cheap ways are there to restart Quendrel gateways?",
        "Gateways restart by the button.",
    )
    found = stand_alone("How long does it last?", [earlier])
    assert {"quendrel", "restart", "gateways"} <= set(found[found.index("(") + 1 : -1].split())
