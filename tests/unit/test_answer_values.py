"""What a sentence states as an answer, in one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.answer_values import measures, stated_values

HOW_LONG = "How long do refunds take?"


@pytest.mark.parametrize(
    ("question", "sentence", "values"),
    [
        (HOW_LONG, "Refunds take 14 full business days.", {"day 14"}),
        (HOW_LONG, "Refunds take two weeks.", {"day 14"}),
        (HOW_LONG, "Refunds cost EUR 14.", set()),
        ("Wie lange dauert die Erstattung?", "Sie dauert zehn Tage.", {"day 10"}),
        ("¿Cuánto tiempo tarda?", "Tarda quince días.", {"day 15"}),
        ("How many offers are needed?", "Above EUR 1,500 three offers.", {"3"}),
        ("How many euros do I get?", "You get 30 euros.", {"30"}),
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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Opens 6:30, closes 10 p.m. or 22.00 Uhr.", {"clock": {6.5, 22.0}}),
        ("From 12 am, two weeks, 28 Kalendertage.", {"clock": {0.0}, "day": {14.0, 28.0}}),
        ("EUR 1.200,50, 12 € and 5 percent.", {"euro": {1200.5, 12.0}, "percent": {5.0}}),
        ("Signed in 2023, for 40 guests.", {"year of": {2023.0}, "person": {40.0}}),
        ("The Q-Hub 200, version 5.2, error E-4102 and 17 more.", {}),
    ],
)
def test_measures_are_numbers_that_count_something(text: str, found: dict[str, set[float]]) -> None:
    assert measures(text) == found


@given(st.text(alphabet="0159.,: €%kgmpauhr-\n", max_size=40))
def test_measures_of_any_text_are_finite_and_not_negative(text: str) -> None:
    values = [value for own in measures(text).values() for value in own]
    assert all(0 <= value < float("inf") for value in values)
