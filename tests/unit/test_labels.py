"""Labels are quotes: they stand in a text however it was cut and marked up."""

import pytest

from eval.labels import holds_answer, holds_quote, holds_words, quotes_much


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


@pytest.mark.parametrize(
    ("text", "wanted", "held"),
    [
        ("Within 15 days.", "5 days", False),
        ("Within 5 daylights.", "5 day", False),
        ("Up to 1,300 euros.", "30", False),
        ("Up to 1,300 euros.", "300", False),
        ("Up to 1'300 francs.", "1", False),
        ("It takes 1.5 hours.", "5 hours", False),
        ("Error E-41025.", "E-4102", False),
        ("Not 15 days but 5 days.", "5 days", True),
        ("Between 5-7 days, or 30, 31.", "7 days", True),
        ("Between 5-7 days, or 30, 31.", "30", True),
        ("At most 30.", "30", True),
        ("It costs **49 €**.", "49 €", True),
        ("Set `sync.retry_max`.", "retry_max", True),
        # no space stands between words here
        ("退款会在5天内支付", "5天", True),
        ("退款会在15天内支付", "5天", False),
        ("환불은 5일 이내에", "환불", True),
        ("anything", " * ", False),
    ],
)
def test_a_wanted_text_stands_as_whole_words_and_numbers(
    text: str, wanted: str, held: bool
) -> None:
    assert holds_words(text, wanted) is held


LONG = "Refunds are paid within five days. Postage is not paid. Gift cards are not refunded at all."


@pytest.mark.parametrize(
    ("cited", "much"),
    [
        (LONG, True),
        (f"First. {LONG} Last.", True),
        ("Refunds are paid within five days.", True),
        ("As said, refunds are paid within five days. And more.", True),
        # 47 of 92 code points, and 36
        ("five days. Postage is not paid. Gift cards are", True),
        ("days. Postage is not paid. Gift cards", False),
        ("Postage is not paid.", False),
        ("five days", False),
        ("Parental leave lasts twelve weeks.", False),
        ("", False),
    ],
)
def test_a_quote_is_held_in_substance_by_a_sentence_or_half_of_it(cited: str, much: bool) -> None:
    assert quotes_much(cited, LONG) is much
