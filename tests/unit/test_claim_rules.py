"""Numbers are the same however they are written; what turns a claim around is an objection."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.adapters.claim_dates import dates
from graph.adapters.claim_number_rules import missing_numbers
from graph.adapters.claim_numbers import quantities
from graph.adapters.claim_reading import read_text
from graph.adapters.claim_rules import objection, rule_signs
from graph.adapters.claim_signs import window_by_words


def objected(claim: str, source: str) -> tuple[str, bool]:
    read = read_text(source)
    return objection(rule_signs(read_text(claim), read, read))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("within two weeks", "innerhalb von 14 Tagen"),
        ("one year", "12 months"),
        ("24 hours", "ein Tag"),
        ("1,500 euros", "1.500 €"),
        ("twenty-five percent", "25 %"),
        ("fünfundzwanzig Prozent", "25%"),
        ("3 million people", "3,000,000 people"),
        ("3,2 Mio. Kunden", "3.2 million customers"),
        ("half of it", "0.5 of it"),
        ("March 14, 2024", "am 14.03.2024"),
        ("14. März 2024", "2024-03-14"),
        ("in March 2024", "on 14 March 2024"),
        ("5 working days", "fünf Werktage"),
        ("2 km", "2,000 metres"),
        ("5 pm", "17 Uhr"),
    ],
)
def test_the_same_amount_is_found_in_any_format(one: str, other: str) -> None:
    assert not missing_numbers(one, other) and not missing_numbers(other, one)
    assert quantities(one) or dates(one)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("within 14 weeks", "within 14 days"),
        ("5 days", "15 days"),
        ("EUR 1,20", "EUR 1,200"),
        ("14 March 2024", "14 March 2023"),
        ("5 working days", "5 weeks"),
        ("twelve", "twenty"),
    ],
)
def test_another_amount_is_missing(claim: str, source: str) -> None:
    assert missing_numbers(claim, source)


@pytest.mark.parametrize(("text", "bound"), [
    ("at least 5 days", "least"), ("mindestens 5 Tage", "least"), ("5 days or more", "least"),
    ("ab 5 Tagen", "least"), ("no more than 5 days", "most"), ("höchstens 5 Tage", "most"),
    ("up to 5 days", "most"), ("bis zu 5 Tage", "most"), ("5 days", ""),
])  # fmt: skip
def test_bounds_are_read_in_both_languages(text: str, bound: str) -> None:
    assert [one.bound for one in quantities(text)] == [bound]


@settings(max_examples=50)
@given(st.integers(0, 10_000_000))
def test_an_integer_is_found_with_and_without_separators(number: int) -> None:
    for text in (f"{number} x", f"{number:,} x", f"{number:,} x".replace(",", ".")):
        (found,) = quantities(text)
        assert float(number) in found.values


@settings(max_examples=30)
@given(st.text(max_size=100))
def test_any_text_can_be_read_and_nothing_is_missing_from_itself(text: str) -> None:
    assert missing_numbers(text, text) == set()
    assert objected(text, text)[0] == ""
    (_, start, _), (_, _, end) = window_by_words(text, [text])
    assert 0 <= start <= end <= len(text)


@pytest.mark.parametrize(
    ("claim", "source", "against"),
    [
        ("To get your money back, cancel within fourteen days.",
         "Refunds are issued within fourteen days of cancellation.", False),
        ("Refunds take 30 days.", "Refunds take 14 days.", True),
        ("A bonus of at least 5 % is paid.", "A bonus of up to 5 % is paid.", True),
        ("Mindestens 5 Tage Urlaub.", "Höchstens 5 Tage Urlaub.", True),
        ("All employees get a bonus.", "Most employees get a bonus.", True),
        ("The shop is closed on Monday.", "The shop is closed on Sunday.", True),
        ("Prices fell.", "Prices increased.", True),
        ("Die Zahl ist gestiegen.", "Die Zahl ist gesunken.", True),
        ("Dogs are not admitted.", "Dogs are admitted.", False),
    ],
)  # fmt: skip
def test_what_turns_a_claim_around_is_an_objection(claim: str, source: str, against: bool) -> None:
    said, found = objected(claim, source)
    assert said and found is against


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Refunds come within two weeks after you cancel.",
         "Refunds are issued within fourteen days of cancellation."),
        ("Smoking is not allowed.", "Smoking is forbidden."),
        ("Rauchen ist nicht erlaubt.", "Rauchen ist verboten."),
        ("Every employee gets a bonus.", "All employees get a bonus."),
        ("Prices increased.", "Prices grow."),
    ],
)  # fmt: skip
def test_the_same_in_other_words_is_none(claim: str, source: str) -> None:
    assert objected(claim, source) == ("", False)
