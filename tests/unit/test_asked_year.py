"""The year that a question asks about, and what is of another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.asked_year import asked_years, of_another_year

YEARS = st.integers(1900, 2099).map(str)


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("How many visitors did we count in 2023?", {"2023"}),
        ("Wie viele Besucher zählte das Camp im Jahr 2019?", {"2019"}),
        ("Wie viele Besucher zählte das Camp 2019?", {"2019"}),
        ("What was the budget of 2021 and of 2022?", {"2021", "2022"}),
        ("What can I buy for 2000 euros?", set()),
        ("What does the code E-2019 mean?", set()),
        ("When did the camp of 2019 end?", set()),
        ("How many visitors did we count?", set()),
    ],
)
def test_reads_the_years_that_are_asked_about(question: str, years: set[str]) -> None:
    assert asked_years(question) == years


@pytest.mark.parametrize(
    ("text", "head", "another"),
    [
        ("In 2024 we counted 1,840 visitors.", "Visitors", True),
        ("In 2023 we counted 1,840 visitors.", "Visitors", False),
        ("From 2022 to 2024 we counted 1,840 a year.", "Visitors", False),
        ("We have had 1,840 a year since 2021.", "Visitors", False),
        ("We counted 1,840 visitors.", "Visitors in 2022", True),
        ("We counted 1,840 visitors.", "Visitors in 2023", False),
        ("We counted 1,840 visitors.", "Visitors", False),
    ],
)
def test_what_is_of_another_year_than_2023(text: str, head: str, another: bool) -> None:
    assert of_another_year(text, head=head, asked=frozenset({"2023"})) == another


@given(st.text(max_size=80), YEARS, st.text(max_size=20))
def test_what_names_the_year_is_never_of_another(text: str, year: str, head: str) -> None:
    assert not of_another_year(f"{text} {year} .", head=head, asked=frozenset({year}))


@given(st.text(max_size=80), st.text(max_size=20))
def test_nothing_is_of_another_year_where_none_is_asked_about(text: str, head: str) -> None:
    assert not of_another_year(text, head=head, asked=frozenset())
