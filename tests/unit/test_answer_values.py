"""What a sentence states as an answer, in one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.answer_values import stated_values

HOW_LONG = "How long do refunds take?"


@pytest.mark.parametrize(
    ("question", "sentence", "values"),
    [
        (HOW_LONG, "Refunds take 14 full business days.", {"day 14"}),
        (HOW_LONG, "Refunds take two weeks.", {"day 14"}),
        (HOW_LONG, "Refunds cost EUR 14.", set()),
        ("Wie lange dauert die Erstattung?", "Sie dauert zehn Tage.", {"day 10"}),
        ("¿Cuánto tiempo tarda?", "Tarda quince días.", {"day 15"}),
        ("How many offers are needed?", "Above EUR 1,500 three offers.", {"1500", "3"}),
        ("Was kostet das?", "Das kostet 1.500,00 Euro.", {"1500"}),
        ("What is the price?", "EUR 9.90, before that EUR 9,95.", {"9.90", "9.95"}),
        ("When is the deadline?", "It is 2026-05-14.", {"2026-05-14"}),
        ("When does the 14 day period end?", "The 14 day period ends in 2027.", {"2027"}),
        ("Who signs?", "The Head of Purchasing signs.", {"head", "purchasing"}),
        ("Who signs?", "Leave is 28 days, signed by Mia Roth.", {"mia", "roth"}),
        ("Who recorded Falling in Love?", "Elvis Presley recorded it.", {"elvis", "presley"}),
        ("What are the rules for leave?", "Leave is 29 days in Leipzig.", set()),
        ("How much is it?", "Price | Starter: EUR 49 | Team: EUR 189", set()),
        ("Why is it closed?", "Because Mia Roth left in 2020.", set()),
        ("Last time the Orioles won?", "It was in 1983 in Baltimore.", {"1983", "baltimore"}),
        ("How many requests per minute?", "The limit is 300 requests per minute.", {"300"}),
        ("Wie viele Urlaubstage gibt es?", "Es gibt 28 Urlaubstage im Jahr.", {"28"}),
        ("Was kostet das Abo?", "Das Abo kostet 12 Euro im Monat.", {"12"}),
        ("Wie lange ist die Frist?", "Die Frist beträgt 14 Kalendertage.", {"day 14"}),
        ("How much is it?", "Call +49 30 1234567 or see https://a.example/7 for more.", set()),
        ("May I return it?", "Printed goods cannot be returned.", {"no"}),
        ("May I return it?", "Hardware can be returned.", {"yes"}),
    ],
)
def test_reads_the_values_that_were_asked_for(
    question: str, sentence: str, values: set[str]
) -> None:
    assert stated_values(sentence, question) == values


@given(st.text(), st.sampled_from([HOW_LONG, "Who?", "When is it?", "Is it?", "How many?", ""]))
def test_what_the_question_says_itself_is_no_answer(text: str, ask: str) -> None:
    asked = f"{ask} {text}"
    assert stated_values(text, asked) <= {"yes", "no"}
