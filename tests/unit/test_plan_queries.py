"""What is searched at all, with which query, and which documents are left out at first."""

import time
from typing import Any, get_args

import pytest

from ingest.filters import Condition, Filters
from nodes.answer_directly import answer_directly
from nodes.answer_type import expected_type, holds_type
from nodes.answer_words import AnswerType
from nodes.asked_time import asks_for_old
from nodes.follow_up import FOLLOW_UP
from nodes.plan_queries import NOT_CURRENT, intent_of, plan_queries
from nodes.state import Query, State
from nodes.web_search import without_private
from nodes.words import guess_language, literals

RUNTIME: Any = None


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Hello!", "greeting"),
        ("good morning everyone", "greeting"),
        ("Danke schön", "greeting"),
        ("¡Hola!", "greeting"),
        ("thank you very much", "greeting"),
        ("thanks very much", "greeting"),
        ("Hello, how long do refunds take?", "search"),
        ("2+2", "arithmetic"),
        ("(1 + 2) * 3 = ?", "arithmetic"),
        ("-3 + 5", "arithmetic"),
        ("What is 3.5 × 2?", "arithmetic"),
        ("Wie viel ist 10 / 4?", "arithmetic"),
        ("¿Cuánto es 2 + 2?", "arithmetic"),
        ("12 * 3", "arithmetic"),
        ("12*3", "arithmetic"),
        ("7 - 2", "arithmetic"),
        ("(3+4)/2", "arithmetic"),
        ("(7-2)/5", "arithmetic"),
        ("10 / 4 =", "arithmetic"),
        ("2^10", "arithmetic"),
        ("0.5 - .25", "arithmetic"),
        ("100 - 10 - 5", "arithmetic"),
        ("Calculate 10-3", "arithmetic"),
        ("calculate 10/4.", "arithmetic"),
        ("2026-05-14", "search"),
        ("What is 2026-08-02?", "search"),
        ("2026/11/14", "search"),
        ("2026 - 11 - 14", "search"),
        ("14 / 11 / 2026", "search"),
        ("14-11-2026", "search"),
        ("14.11.2026 - 15.11.2026", "search"),
        ("calculate 2026-05-14", "search"),
        ("0341-55512", "search"),
        ("0341 - 55512", "search"),
        ("0341/55512", "search"),
        ("+49 341 555-12", "search"),
        ("+49 (341) 555 - 12", "search"),
        ("(555)-123-4567", "search"),
        ("What is 404-2?", "search"),
        ("24/7", "search"),
        ("What is 3.2.1 - 3.2.0?", "search"),
        ("192.168.0.1 / 24", "search"),
        ("what is 42", "search"),
        ("3.2.1", "search"),
        ("What is 2 + 2 days of leave?", "search"),
        ("who are you?", "about_service"),
        ("Was kannst du?", "about_service"),
        ("¿Quién eres?", "about_service"),
        ("Who are you allowed to report to?", "search"),
        ("what?", "unclear"),
        ("and then?", "unclear"),
        ("", "unclear"),
        ("?!", "unclear"),
        ("VPN", "search"),
        ("E-4102", "search"),
        ("退款需要多长时间", "search"),
        ("What is it that we do with them?", "search"),
    ],
)
def test_everything_is_searched_but_what_needs_no_document(question: str, intent: str) -> None:
    assert intent_of(question) == intent


async def test_the_question_is_the_first_query() -> None:
    update = await plan_queries(State(standalone="How long for PROJ-123?"), RUNTIME)
    assert update["queries"] == [Query("How long for PROJ-123?", "original", 0)]
    assert update["summary"]["literals"] == ["PROJ-123"]


@pytest.mark.parametrize(
    ("question", "filters", "derived"),
    [
        ("How long do refunds take?", [], [NOT_CURRENT]),
        ("What was the previous refund policy?", [], []),
        ("What did version 2 say?", [], []),
        ("What was it in 2019?", [], []),
        ("Was galt früher?", [], []),
        ("How much did a city bike cost before?", [], []),
        ("Was kostete ein Rad letztes Jahr?", [], []),
        ("Which form must be sent before?", [], [NOT_CURRENT]),
        ("Wie lange vorher muss ich buchen?", [], [NOT_CURRENT]),
        ("¿Cuál era la política anterior?", [], []),
        ("How long do refunds take?", [Condition("status", ["draft"])], []),
        ("How long do refunds take?", [Condition("language", ["en"])], [NOT_CURRENT]),
    ],
)
async def test_old_documents_are_left_out_unless_asked_for(
    question: str, filters: list[Condition], derived: list[Condition]
) -> None:
    state = State(standalone=question, filters=Filters(filters))
    update = await plan_queries(state, RUNTIME)
    assert update["derived_filters"] == Filters(derived)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("2 + 3 * 4", "2 + 3 * 4 = 14"),
        ("What is (1 + 2) * 3?", "(1 + 2) * 3 = 9"),
        ("10 ÷ 4", "10 ÷ 4 = 2.5"),
        ("0.1 + 0.2", "0.1 + 0.2 = 0.3"),
        ("1 / 0", "I cannot compute 1 / 0."),
        ("2^10", "2^10 = 1024"),
        ("2 ^ 3 ^ 2", "2 ^ 3 ^ 2 = 512"),
        ("2 ** 0.5", "2 ** 0.5 = 1.41421356237"),
        ("+3 + +4", "+3 + +4 = 7"),
        ("0 ^ -1", "I cannot compute 0 ^ -1."),
        ("(-8) ^ 0.5", "I cannot compute (-8) ^ 0.5."),
        ("9^9^9^9", "I cannot compute 9^9^9^9."),
        ("9**9**9**9", "I cannot compute 9**9**9**9."),
        ("1" * 400 + "*1", "I cannot compute " + "1" * 400 + "*1."),
        ("1 + (2", "I cannot compute 1 + (2."),
    ],
)
async def test_arithmetic_is_computed_or_said_not_to_be(question: str, answer: str) -> None:
    update = await answer_directly(State(standalone=question), RUNTIME)
    assert update["draft"][0].text == answer
    assert update["outcome"] == "no_retrieval"


HOSTILE = [
    "(" + " " * 3_998 + "x",
    "1+" * 1_999 + "x",
    "((1" * 1_300 + "x",
    "a" * 4_000,
    "a." * 2_000,
    "a_" * 2_000,
    "1 " * 2_000,
    "1-" * 2_000,
    "what is the " * 333,
    "wh " + "a " * 1_998,
    "A b " * 1_000,
    "!" * 3_999 + "x",
    "1 - " * 999 + "1",
    "20" * 2_000,
    "2020 - 1" * 500,
    "1 " + " " * 3_990 + "-x",
    "1" + " -" * 1_999,
    "eyJ" + "-" * 3_990,
    "how many " * 440,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_question_keeps_the_service_busy(text: str) -> None:
    """4,000 characters are allowed; an expression that backtracks would take minutes."""
    started = time.process_time()
    intent_of(text)
    literals(text)
    guess_language(text)
    expected_type(text)
    without_private(text)
    asks_for_old(text)
    FOLLOW_UP.search(text)
    for kind in get_args(AnswerType):
        holds_type(text, kind)
    assert time.process_time() - started < 1.0
