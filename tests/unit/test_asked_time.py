"""Which questions are of what was, and what is told then."""

from datetime import date

import pytest

from ingest.documents import Candidate
from ingest.filters import Filters
from nodes.asked_time import asks_for_before, asks_for_old
from nodes.evidence import before, usable
from nodes.findings import Evidence
from nodes.plan_queries import NOT_CURRENT
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, a_candidate, a_chunk, a_grade
from tests.runs import ports, run

BEFORE = [
    "And what was it before? (quiet hours)",
    "And before? (dogs allowed)",
    "Und früher?",
    "How much did a city bike cost before?",
    "How much did a city bike use to cost?",
    "What used to be the deposit?",
    "What was the deposit last year?",
    "What was the old refund period?",
    "What is the previous price?",
    "Wie hoch war die Kaution früher?",
    "Was kostete ein Rad letztes Jahr?",
    "Was galt bisher?",
    "Wie lange dauerte es vorher?",
    "Was ist der bisherige Preis?",
    "¿Cuánto costaba antes?",
]
NOW = [
    "Which form is used to apply for parental leave?",
    "Which card is used to pay for travel?",
    "Do former employees get a discount?",
    "Does a previous employer count?",
    "And before I travel?",
    "Before? No, after!",
    "How much does a city bike cost?",
    "Which form must be sent before?",
    "What must I do before I travel?",
    "How do I return an old laptop?",
    "Can I go earlier?",
    "Can I carry over leave from last year?",
    "Which key is used to open the gate?",
    "Wie lange vorher muss ich buchen?",
    "Kann ich früher gehen?",
    "¿Qué hago antes?",
]


@pytest.mark.parametrize("question", BEFORE)
def test_of_what_was(question: str) -> None:
    assert asks_for_before(question) and asks_for_old(question)


@pytest.mark.parametrize("question", ["What does v12 say?", "What changed in version 12?"])
def test_a_version_is_named_by_all_its_digits(question: str) -> None:
    assert asks_for_old(question)


@pytest.mark.parametrize("question", NOW)
def test_of_what_is(question: str) -> None:
    assert not asks_for_before(question)


TODAY = date(2026, 11, 30)


def price_list(year: int, price: int) -> Evidence:
    text = f"Bike: City bike | Per day: {price} EUR"
    dated = {"effective": f"{year}-01-01"}
    chunk = a_chunk(str(year), text, title=f"Prices {year}", metadata=dated)
    return Evidence(Candidate(chunk, {"fused": 0.5}), a_grade("correct"), 0)


OLDEST, OLD, NEW, FUTURE = (price_list(2023 + n, 12 + n) for n in (0, 1, 3, 6))
OTHER = Evidence(a_candidate("other", "Bikes were lent for 5 EUR."), a_grade("correct"), 0)


def test_what_replaces_another_is_no_evidence_of_what_was() -> None:
    for question, kept in ((BEFORE[0], [OLD, OTHER]), (NOW[0], [NEW, OLD, OTHER])):
        found, old = before(question, [NEW, OLD, OTHER], TODAY)
        assert found == kept
        assert list(old) == ["doc-2024"] * (question == BEFORE[0])
    assert before(BEFORE[0], [NEW, OTHER], TODAY)[0] == [NEW, OTHER]
    assert before(BEFORE[0], [NEW, OLD, OLDEST], TODAY)[0] == [OLD, OLDEST]
    assert before(BEFORE[0], [NEW, FUTURE], TODAY)[0] == [NEW, FUTURE]


async def told(question: str) -> State:
    index = FakeIndex([NEW.candidate, OLD.candidate])
    grader = FakeGrader({"2026": "correct", "2024": "correct"})
    return await run(ports(index=index, grader=grader), question)


async def test_a_run_tells_what_was_and_says_so() -> None:
    state = await told(BEFORE[0])
    assert state.outcome == "answered"
    assert [(s.text, s.note) for s in state.draft] == [
        (OLD.candidate.chunk.text, "before, from Prices 2024, of 2024-01-01")
    ]
    now = await told(NOW[0])
    assert NEW.candidate.chunk.text in [s.text for s in now.draft]
    assert not any(s.note for s in now.draft)


def section(name: str, status: str, heading: str, verdict: str) -> Evidence:
    chunk = a_chunk(name, title="Site Rules", heading=heading, metadata={"status": status})
    return Evidence(Candidate(chunk, {"fused": 0.5}), a_grade(verdict), 0)


@pytest.mark.parametrize(
    ("heading", "read"), [("Fires", ["new"]), ("Dogs", ["old"])], ids=["same", "another"]
)
def test_what_was_allowed_gives_way_to_the_current_section(heading: str, read: list[str]) -> None:
    old = section("old", "superseded", "Fires", "correct")
    new = section("new", "current", heading, "ambiguous")
    state = State(evidence=[old, new], derived_filters=Filters([NOT_CURRENT]))
    assert [e.candidate.chunk.chunk_id for e in usable(state)] == read
