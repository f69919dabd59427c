"""Which passages deny each other, which is newer, and how many sources there are."""

import pytest

from ingest.documents import Candidate
from nodes.conflicts import Statement, agree, contradict, newer, sources
from tests.fakes import a_chunk

HOW_LONG = "How long do refunds take?"
FIVE = "Refunds take 5 business days after the check."


def passage(name: str, text: str = FIVE, title: str = "", **metadata: str) -> Candidate:
    return Candidate(a_chunk(name, text, title=title or name, metadata=metadata), {})


def denied(question: str, one: str, other: str, *, titles: tuple[str, str] = ("a", "b")) -> bool:
    first, second = (
        Statement(text, passage(name, text, title))
        for name, text, title in zip("ab", (one, other), titles, strict=True)
    )
    assert contradict(question, first, second) == contradict(question, second, first)
    return contradict(question, first, second)


def test_another_number_for_the_same_thing_is_a_contradiction() -> None:
    assert denied(HOW_LONG, FIVE, "Refunds take 14 days.")
    assert not denied(HOW_LONG, FIVE, "Refunds take five days.")
    assert not denied(HOW_LONG, FIVE, "Refunds take a while.")


def test_a_sum_of_money_does_not_deny_a_count_of_things() -> None:
    ask, price = (
        "How much is the deposit for a city bike?",
        "The deposit for a city bike is 60 EUR.",
    )
    assert not denied(ask, price, "A deposit is for each city bike, and 15 city bikes are there.")
    assert denied(ask, price, "The deposit for a city bike is 50.")
    assert denied(ask, price, "The deposit for a city bike is 50 EUR.")


def test_another_subject_is_none() -> None:
    assert not denied("How long is the warranty on tags?", "The warranty on tags is 2 years.",
                      "Gateways are kept for 3 years.")  # fmt: skip


def test_a_time_of_day_does_not_deny_a_period() -> None:
    assert not denied("When are reports paid?", "Reports are paid at 12:00.",
                      "Reports are paid within 30 days.")  # fmt: skip


def test_a_question_in_capitals_is_asked_as_any_other() -> None:
    assert denied(HOW_LONG.upper(), FIVE, "Refunds take 14 days.")


def test_a_price_for_a_month_does_not_deny_one_for_a_year() -> None:
    question, month = "What does the plan cost?", "The plan costs 12 euros a month."
    assert denied(question, month, "The plan costs 15 euros per month.")
    assert denied(question, month, "The plan costs 15 euros.")
    assert not denied(question, month, "The plan costs 120 euros each year.")


def test_a_price_of_one_thing_does_not_deny_that_of_another() -> None:
    ask = "How much is paid for travel?"
    assert not denied(ask, "Travel is paid at EUR 0.34 per kilometre.",
                      "Travel is paid up to EUR 30 per trip.")  # fmt: skip
    assert denied(ask, "Travel is paid at EUR 0.34 per kilometre.",
                  "Travel is paid at EUR 0.40 per kilometre.")  # fmt: skip


def test_what_the_question_names_must_stand_in_both() -> None:
    question = "What does a lost badge cost in Columbus?"
    here, there = "A lost badge costs USD 15.", "A lost badge costs EUR 10."
    assert not denied(question, here, there, titles=("Office Columbus", "Office Leipzig"))
    assert denied(question, here, there, titles=("Office Columbus", "Columbus FAQ"))


def test_yes_and_no_only_of_the_same_words() -> None:
    question = "May opened hardware be returned?"
    assert denied(
        question, "Opened hardware may be returned.", "Opened hardware may not be returned."
    )
    assert not denied(
        question, "Opened hardware may be returned.", "No RMA number, no check of the hardware."
    )


def test_a_document_does_not_deny_itself() -> None:
    one = passage("a", f"{FIVE} Refunds take 14 days.")
    assert not contradict(HOW_LONG, Statement(FIVE, one), Statement("Refunds take 14 days.", one))


@pytest.mark.parametrize(
    ("one", "other", "is_newer"),
    [
        ({}, {"status": "superseded"}, True),
        ({"status": "current"}, {"status": "draft", "effective": "2027-01-01"}, True),
        ({"effective": "2026-03-01"}, {"effective": "2023-09-01"}, True),
        ({"version": "3.10"}, {"version": "3.9"}, True),
        ({"version": "3"}, {"version": "3"}, False),
        ({"version": "3"}, {}, False),
        ({}, {}, False),
    ],
)
def test_newer_by_status_then_date_then_version(
    one: dict[str, str], other: dict[str, str], is_newer: bool
) -> None:
    first, second = (passage(n, title="Refunds", **m) for n, m in (("a", one), ("b", other)))
    assert newer(first, second) is is_newer
    assert not newer(second, first)


def test_versions_of_different_titles_are_not_compared() -> None:
    assert not newer(passage("a", title="Prices", version="5"), passage("b", version="2"))
    old, new = ("Refund Policy (version 2)", "2"), ("Refund Policy v3", "3")
    assert newer(
        passage("b", title=new[0], version=new[1]), passage("a", title=old[0], version="2")
    )


def test_a_copy_is_no_second_source() -> None:
    copies = [passage(f"p{n}", f"{FIVE} Page {n}.") for n in range(5)]
    assert sources(copies) == 1
    assert sources([*copies, passage("own", "After the goods were seen it takes 5 days.")]) == 2


AT = "Is the garage open at {}?"
LATE, EARLY = "The garage is open until 22:00.", "The garage closes at 20:00."


@pytest.mark.parametrize(
    ("question", "one", "other", "denies"),
    [
        (AT.format("21:00"), LATE, EARLY, True),
        (AT.format("9 pm"), "The garage is open until 10 pm.", EARLY, True),
        (AT.format("21:00"), "The garage is open from 6:00 to 22:00.",
         "The garage is open from 6:30 to 20:00.", True),
        (AT.format("12:00"), LATE, EARLY, False),
        (AT.format("12:00"), "The garage is open from 6:00 to 22:00.",
         EARLY, False),
        (AT.format("21:00"), LATE, "The canteen closes at 20:00.", False),
        (AT.format("21:00"), LATE, "The garage has 20 spaces.", False),
        ("Ist die Tiefgarage um 21 Uhr geöffnet?", "Die Tiefgarage ist bis 22 Uhr geöffnet.",
         "Die Tiefgarage schließt um 20 Uhr.", True),
        ("Can I carry over 10 days of leave?", "Up to 5 days of leave carry over.",
         "You can carry over two weeks of leave.", True),
        ("Can I carry over 3 days of leave?", "Up to 5 days of leave carry over.",
         "You can carry over two weeks of leave.", False),
        ("May I spend 500 euros on a hotel?", "A hotel may cost up to EUR 300.",
         "A hotel may cost up to 600 €.", True),
        ("May I spend 500 euros on a hotel?", "A hotel may cost up to EUR 600.",
         "A hotel of 3 stars may cost 700 €.", False),
        ("Can the Q-Hub 200 stand outdoors?", "The Q-Hub 200 can stand outdoors up to 40 °C.",
         "The Q-Hub can stand outdoors for 90 days.", False),
        ("Does version 5.2 run on tags?", "Version 5.2 runs on tags.",
         "Version 4.1 and 6.0 run on tags.", False),
        ("Does E-4102 clear itself?", "E-4102 clears itself after 30 s.",
         "E-17 and E-9000 clear themselves; E-4102 is listed there.", False),
        ("Was the office opened in 2023?", "The office was opened in 2023.",
         "The office was opened in 2024.", True),
    ],
)  # fmt: skip
def test_a_question_of_yes_or_no_divides_what_states_values_on_two_sides_of_its_own(
    question: str, one: str, other: str, denies: bool
) -> None:
    assert denied(question, one, other) == denies
    sides = [
        Statement(text, passage(name, text)) for name, text in zip("ab", (one, other), strict=True)
    ]
    assert not (denies and agree(question, *sides))


def test_a_name_is_not_the_longer_one_that_begins_with_it() -> None:
    one, other = "The plan S1 costs 20 euros.", "The plan S10 costs 30 euros."
    assert not denied("How much does the S1 plan cost?", one, other)
