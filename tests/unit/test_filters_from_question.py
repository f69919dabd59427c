"""A filter is made only of what the question names and the base holds."""

from datetime import date
from typing import Any

import pytest

from ingest.filters import MAX_VALUES, Condition, Filters
from ingest.records import DocumentRecord
from nodes.context import Context
from nodes.filters_from_question import filters_from_question, period
from nodes.plan_queries import plan_queries
from nodes.rewrite_query import rewrite_query
from nodes.state import Query, State

TODAY = date(2026, 3, 10)
FEBRUARY = Condition("effective", [], at_least="2026-02-01", at_most="2026-02-28")
LAST_YEAR = Condition("effective", [], at_least="2025-01-01", at_most="2025-12-31")


def a_document(name: str, **metadata: str) -> DocumentRecord:
    return DocumentRecord(name, f"{name}.md", name, "r", "0", "text/plain", 1, "", "current",
                          metadata)  # fmt: skip


HELD = [
    a_document("a", version="2", language="en", product="Q-Hub 100", effective="2026-02-03"),
    a_document("b", version="3.1", language="de", product="Q-Hub 200", effective="2025-07-01"),
    a_document("c"),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does version 3.1 say of refunds?", [Condition("version", ["3.1"])]),
        ("What does v7 say of refunds?", []),
        ("How long do refunds take in German?", [Condition("language", ["de"])]),
        ("What does the German version say?", [Condition("language", ["de"])]),
        ("What is a contract in German law?", []),
        ("¿Qué dice el manual en francés?", []),
        ("How do I reset the Q-Hub 200?", [Condition("document_id", ["b"])]),
        ("How do I reset the Q-Hub?", []),
        ("Which rules were published last month?", [FEBRUARY]),
        ("Which rules are effective in 2025?", [LAST_YEAR]),
        ("How many refunds were there in 2025?", []),
        ("Which rules changed this week?", []),
    ],
)
def test_a_filter_is_of_what_is_named_and_held(question: str, expected: list[Condition]) -> None:
    assert filters_from_question(question, HELD, today=TODAY).conditions == expected


def test_more_documents_than_a_filter_takes_are_no_filter() -> None:
    many = [a_document(f"d{n}", product="Q-Hub") for n in range(MAX_VALUES + 1)]
    assert filters_from_question("reset the Q-Hub", many, today=TODAY) == Filters()


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("last month", date(2026, 2, 1), date(2026, 2, 28)),
        ("letzten Monat", date(2026, 2, 1), date(2026, 2, 28)),
        ("el mes pasado", date(2026, 2, 1), date(2026, 2, 28)),
        ("last week", date(2026, 3, 2), date(2026, 3, 8)),
        ("this year", date(2026, 1, 1), date(2026, 12, 31)),
        ("yesterday", date(2026, 3, 9), date(2026, 3, 9)),
    ],
)
def test_relative_times_are_counted_from_the_given_day(
    question: str, first: date, last: date
) -> None:
    assert period(question, TODAY) == (first, last)


class Held:
    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    async def documents(self, scope: Any, knowledge_base: str) -> list[DocumentRecord]:
        if self.failure:
            raise self.failure
        return HELD


async def planned(held: Held, **options: Any) -> Any:
    runtime: Any = type("R", (), {"context": Context(today=TODAY, **options)})()
    state = State(standalone="Which rules were published last month?")
    return await plan_queries(state, runtime, documents=held)


async def test_the_filters_are_traced_and_off_unless_asked_for() -> None:
    on, off = await planned(Held(), query_filters=True), await planned(Held())
    assert on["question_filters"].conditions == [FEBRUARY]
    assert "effective in 2026-02-01..2026-02-28" in on["summary"]["filters"]
    assert off["question_filters"] == Filters()


async def test_without_what_the_base_holds_the_search_is_unfiltered_and_says_so() -> None:
    update = await planned(Held(OSError("gone")), query_filters=True)
    assert update["question_filters"] == Filters()
    assert [one.fallback for one in update["degraded"]] == ["no filters"]


async def test_the_first_correction_drops_filters_with_which_nothing_was_near() -> None:
    named = Filters([Condition("version", ["2"])])
    state = State(
        standalone="What does version 2 say?",
        queries=[Query("What does version 2 say?")],
        question_filters=named,
    )
    update = await rewrite_query(state, None)  # type: ignore[arg-type]
    assert update["question_filters"] == Filters()
    assert update["summary"]["dropped"] == ["version"]
