"""Questions that lack what they are about, and those that only look so."""

import pytest

from nodes.underspecified import underspecified

BEFORE = ["How do I reset the gateway? Press the button of the gateway."]


@pytest.mark.parametrize(
    "question",
    [
        "How much does it cost?",
        "What is the limit?",
        "Do they deliver on Saturdays?",
        "What are the services offered by this library?",
        "Welche Rechte hat dieser Kunde?",
        "Was kostet das?",
        "¿Cuál es el límite?",
    ],
)
def test_a_question_without_its_subject(question: str) -> None:
    assert underspecified(question, [])


@pytest.mark.parametrize(
    "question",
    [
        "How long does it take to ship to Alaska?",
        "Is it allowed to take a taxi?",
        "My gateway does not start. How do I reset it?",
        "What does E-4102 mean and how is it solved?",
        "What is OPS-1182?",
        "core hours?",
        "Is this intended for professionals?",
        "Is there a law similar to this for bicycles?",
        "How many days of leave do I have this year?",
        "How long do refunds take?",
    ],
)
def test_a_question_that_names_it(question: str) -> None:
    assert not underspecified(question, [])


def test_the_conversation_may_name_it() -> None:
    assert not underspecified("How much does it cost?", BEFORE)
    assert not underspecified("What does this gateway weigh?", BEFORE)
    assert underspecified("Which services does this library offer?", BEFORE)
