"""Of several versions of a document the newest comes first; other documents keep their place."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from ingest.documents import Candidate
from nodes.check_cache import cache_key
from nodes.context import Context
from nodes.findings import Grade
from nodes.ports import GradedPassages
from nodes.state import State
from nodes.versions import replaced
from tests.fakes import FakeGrader, FakeIndex, a_candidate
from tests.runs import ports, run

TODAY = date(2026, 11, 30)


def a_version(name: str, title: str, **metadata: str) -> Candidate:
    made = a_candidate(name)
    return replace(made, chunk=replace(made.chunk, title=title, metadata=metadata))


NEW = a_version("new", "Refund Policy", effective="2026-03-01")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Refund Policy", "2026-03-01"), ("Refund Policy (version 2)", "2023-09-01")),
        (("Support SLA", "2026-01-01"), ("Support SLA 2024", "2024-01-01")),
        (("Travel Rules v3.10", ""), ("Travel Rules v3.9", "")),
        (("Leave", "2026-11-30"), ("Leave", "2026-11-29")),
    ],
)
def test_the_older_of_two_versions_is_replaced(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    made = [
        a_version(name, title, **({"effective": day} if day else {}))
        for name, (title, day) in {"new": one, "old": other}.items()
    ]
    assert replaced(made, TODAY) == replaced(made[::-1], TODAY) == {"doc-old"}


@pytest.mark.parametrize(
    "other",
    [
        a_version("b", "Refund Form", effective="2020-01-01"),
        a_version("b", "Refund Policy 200", effective="2020-01-01"),  # of another product
        a_version("b", "Refund Policy", effective="2020-01-01", language="de"),
        a_version("b", "Refund Policy", effective="2026-03-01"),
        a_version("b", "Refund Policy"),
        a_version("b", "Refund Policy", effective="2027-01-01"),  # not yet in force
        a_version("b", "Refund Policy", effective="2026-06-01", trust="low"),
        replace(a_version("b", "Refund Policy", effective="2020-01-01"), url="https://a.example"),
    ],
)
def test_what_is_no_older_version_keeps_its_place(other: Candidate) -> None:
    assert replaced([NEW, other], TODAY) == set()


def test_a_year_alone_makes_no_version() -> None:
    games = [a_version(year, f"{year} Summer Games") for year in ("2008", "2012")]
    assert replaced(games, TODAY) == set()


def test_issues_of_a_series_are_no_versions() -> None:
    issues = [
        a_version(n, f"Release Notes 2026-{n}", effective=f"2026-{n}-01") for n in ("06", "10")
    ]
    assert replaced(issues, TODAY) == set()


def test_a_document_names_what_it_replaces() -> None:
    old = a_version("old", "Warranty Terms", source="archive/terms.md")
    new = a_version("new", "Warranty", supersedes="archive/terms.md")
    assert replaced([old, new], TODAY) == {"doc-old"}
    low = a_version("low", "Warranty", supersedes="archive/terms.md", trust="low")
    assert replaced([old, low], TODAY) == set()


OLD = a_version("old", "Refund Policy", effective="2023-09-01")
OTHER = a_version("other", "Shipping")


async def ordered(question: str = "How long do refunds take?", **more: Any) -> tuple[State, Any]:
    grader = FakeGrader(lambda found: GradedPassages([Grade("incorrect", 0.0) for _ in found]))
    state = await run(ports(index=FakeIndex([OLD, OTHER, NEW]), grader=grader), question, **more)
    first = next(entry.summary for entry in state.trace if entry.node == "rerank")
    return state, first


async def test_older_versions_come_last_and_the_trace_says_so() -> None:
    _, summary = await ordered(rewrites=0, latest=True)
    assert [top["chunk_id"] for top in summary["top"]] == ["other", "new", "old"]
    assert summary["older"] == 1


@pytest.mark.parametrize(
    ("question", "latest"), [("How long did refunds take before the change?", True), ("", False)]
)
async def test_not_where_the_question_is_of_what_was_or_the_option_is_off(
    question: str, latest: bool
) -> None:
    _, summary = await ordered(*filter(None, [question]), rewrites=0, latest=latest)
    assert [top["chunk_id"] for top in summary["top"]] == ["old", "other", "new"]
    assert "older" not in summary


def test_an_answer_of_the_day_before_is_not_kept_beyond_a_version_in_force() -> None:
    days = [1_790_000_000.0, 1_790_000_000.0 + 86_400]
    states = [State(question="How long?", standalone="How long?", started_at=day) for day in days]
    for latest, keys in ((True, 2), (False, 1)):
        context = Context(latest=latest)
        assert len({cache_key(state, context, "v1") for state in states}) == keys


async def test_the_widened_loop_drops_it() -> None:
    state, _ = await ordered(rewrites=3, latest=True)
    assert state.wide
    assert [c.chunk.chunk_id for c in state.candidates] == ["old", "other", "new"]
