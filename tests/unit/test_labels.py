"""Labels are quotes: they stand in a text however it was cut and marked up."""

import pytest

from eval.labels import holds_answer, holds_quote


@pytest.mark.parametrize(
    "text",
    [
        "We pay within 5 business days.",
        "we PAY within\n5   business days, mostly.",
        "We **pay** within `5` business days.",
        "We [pay](https://example.org/a_b) within 5 business days.",
    ],
)
def test_a_quote_stands_up_to_case_space_and_marks(text: str) -> None:
    assert holds_quote(text, "We pay within 5 business days")


def test_another_number_is_another_quote() -> None:
    assert not holds_quote("We pay within 15 business days.", "within 5 business days")


def test_a_table_row_stands_where_one_line_holds_all_its_cells() -> None:
    quote = "| Pro | 49 € |"
    assert holds_quote("Plan: Pro | Price: 49 €", quote)
    assert not holds_quote("Plan: Pro | Price: 9 €\nPlan: Max | Price: 49 €", quote)


def test_an_empty_quote_stands_nowhere() -> None:
    assert not holds_quote("anything", "")
    assert not holds_quote("anything", " | ")


def test_an_answer_stands_as_whole_words() -> None:
    assert holds_answer("It takes two days.", ["three", "Two days"])
    assert not holds_answer("It takes twenty-two daystrips.", ["two days"])
    assert not holds_answer("In 1905.", ["190"])


def test_no_answer_stands_where_none_is_named() -> None:
    assert not holds_answer("text", [])
    assert not holds_answer("text", ["..."])
