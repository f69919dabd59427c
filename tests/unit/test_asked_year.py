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
        ("How many visitors came in summer 2022?", {"2022"}),
        ("Wie hoch war der Umsatz 2021?", {"2021"}),
        ("Was the budget of 2022 spent?", {"2022"}),
        ("What was the 2022 budget?", {"2022"}),
        ("¿Cuántos visitantes hubo en 2023?", {"2023"}),
        ("How many visitors have we had since 2020?", {"2020"}),
        ("Who scored more than 2000 points in 2021?", {"2021"}),
        ("Was bekomme ich für 2000 Euro?", set()),
        ("How many of 2000 guests came?", set()),
        ("How large is room 2010?", set()),
        ("How many pages has form 2019-B?", set()),
        ("In which year did the storm of 2019 end?", set()),
        ("Seit wann gilt die Regel von 2019?", set()),
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
        ("Im Jahr 2024 zählte das Camp 1.840 Besucher.", "Besucher", True),
        ("From 2019 to 2021 we counted 1,840 a year.", "Visitors", True),
        ("Since 2024 we have had 1,840 a year.", "Visitors", True),
        ("Between 2022 and 2024 we counted 1,840.", "Visitors", False),
        ("2022–2024: 1,840 visitors", "Visitors", False),
        ("Von 2022 bis 2024 zählte das Camp 1.840.", "Besucher", False),
        ("Seit dem Jahr 2021 sind es 1.840.", "Besucher", False),
        ("It has been 1,840 since May 2022.", "Visitors", False),
        ("In the season 2022/23 we counted 1,840.", "Visitors", False),
        ("We spent 2000 euros.", "Budget", False),
        ("Wir gaben 2000 Euro aus.", "Budget", False),
        ("We spent 2000 euros.", "Budget of 2022", True),
        ("In 2023 we counted 1,840 visitors.", "Visitors in 2022", False),
        ("We counted 1,840 visitors.", "Visitors since 2020", False),
        ("We counted 1,840 visitors.", "Visitors, 2024 to 2026", True),
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


@given(YEARS, st.sampled_from(["in {}?", "im Jahr {}?", "of {}?", "en {}?"]))
def test_the_year_of_a_question_is_read(year: str, end: str) -> None:
    assert asked_years(f"How many visitors came {end.format(year)}") == {year}


@given(YEARS, YEARS, YEARS, st.sampled_from(["{} to {}", "{}–{}", "{} bis {}"]))
def test_a_range_holds_the_years_within_it(one: str, other: str, asked: str, form: str) -> None:
    first, last = sorted((one, other))
    text = f"Visitors, {form.format(first, last)}: 1,840."
    another = of_another_year(text, head="", asked=frozenset({asked}))
    assert another == (not first <= asked <= last)


@given(YEARS, YEARS)
def test_since_holds_the_years_after_it(since: str, asked: str) -> None:
    for text in (f"We have had 1,840 since {since}.", f"Seit {since} sind es 1.840."):
        assert of_another_year(text, head="", asked=frozenset({asked})) == (asked < since)
