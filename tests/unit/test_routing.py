"""Each route as a plain function of the state."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from graph.routing import (
    after_estimating,
    after_generating,
    after_grading,
    after_grounding,
    after_planning,
    after_retrieving,
    after_rewriting,
    after_web_search,
)
from ingest.filters import Condition, Filters
from nodes.context import Context
from nodes.findings import Evidence, Sentence
from nodes.plan_queries import NOT_CURRENT
from nodes.state import Spent, State
from tests.fakes import a_candidate, a_grade

CORRECT = Evidence(a_candidate("a"), a_grade("correct"), 0)
AMBIGUOUS = Evidence(a_candidate("b"), a_grade("ambiguous"), 0)
NAMED = Filters([Condition("version", ["2"])])
HELD = Filters([NOT_CURRENT])
DRAFT = [Sentence("text", [])]


def runtime(**options: Any) -> Any:
    return SimpleNamespace(context=Context(**options))


@pytest.mark.parametrize(
    ("fields", "options", "expected"),
    [
        ({"evidence": [CORRECT]}, {}, "generate"),
        ({"evidence": [CORRECT], "failed": "x"}, {}, "decline"),
        ({"evidence": [AMBIGUOUS], "new_chunks": 1}, {}, "rewrite_query"),
        ({"new_chunks": 1}, {}, "rewrite_query"),
        ({"new_chunks": 0}, {}, "decline"),
        ({"new_chunks": 0, "question_filters": NAMED}, {}, "rewrite_query"),
        ({"derived_filters": HELD}, {}, "rewrite_query"),
        ({"derived_filters": HELD}, {"web": True}, "rewrite_query"),
        ({"derived_filters": HELD, "wide": True}, {}, "decline"),
        ({"derived_filters": HELD}, {"rewrites": 0}, "decline"),
        ({"new_chunks": 0, "evidence": [AMBIGUOUS]}, {}, "generate"),
        ({"new_chunks": 0}, {"web": True}, "web_search"),
        ({"new_chunks": 0, "evidence": [AMBIGUOUS]}, {"web": True}, "web_search"),
        ({"new_chunks": 1, "spent": Spent(3)}, {}, "decline"),
        ({"new_chunks": 1, "spent": Spent(9)}, {}, "decline"),
        ({"new_chunks": 1}, {"rewrites": 0}, "decline"),
        ({"new_chunks": 1, "web_searched": True}, {"web": True}, "decline"),
        ({"new_chunks": 1, "started_at": 1.0}, {"web": True}, "decline"),
        ({"new_chunks": 1, "started_at": 1.0}, {"deadline_s": None}, "rewrite_query"),
        ({"evidence": [CORRECT], "started_at": 1.0}, {}, "generate"),
    ],
)
def test_after_grading(fields: dict[str, Any], options: dict[str, Any], expected: str) -> None:
    state = State(**({"started_at": time.time()} | fields))
    assert after_grading(state, runtime(**options)) == expected


@pytest.mark.parametrize(
    ("fields", "options", "expected"),
    [
        ({}, {}, "retrieve"),
        ({"loops_over": "x"}, {}, "decline"),
        ({"loops_over": "x"}, {"web": True}, "web_search"),
        ({"loops_over": "x", "evidence": [AMBIGUOUS]}, {}, "generate"),
        ({"failed": "x"}, {"web": True}, "decline"),
    ],
)
def test_after_rewriting(fields: dict[str, Any], options: dict[str, Any], expected: str) -> None:
    assert after_rewriting(State(**fields), runtime(**options)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"candidates": [a_candidate("a")]}, "rerank"),
        ({}, "decline"),
        ({"evidence": [AMBIGUOUS]}, "generate"),
        ({"candidates": [a_candidate("a")], "failed": "x"}, "decline"),
    ],
)
def test_after_web_search(fields: dict[str, Any], expected: str) -> None:
    assert after_web_search(State(**fields), runtime()) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"outcome": "answered", "draft": DRAFT}, "done"),
        ({"draft": DRAFT, "repairs": 1}, "generate"),
        ({"draft": DRAFT, "repairs": 2}, "decline"),
        ({"draft": [], "repairs": 1}, "decline"),
        ({"draft": DRAFT, "failed": "x"}, "decline"),
    ],
)
def test_after_grounding(fields: dict[str, Any], expected: str) -> None:
    assert after_grounding(State(**fields)) == expected


@pytest.mark.parametrize(
    ("fields", "options", "expected"),
    [
        ({"confidence": 0.5}, {"min_confidence": 0.5}, "check_grounding"),
        ({"confidence": 0.4}, {"min_confidence": 0.5}, "decline"),
        ({"confidence": 0.4}, {"min_confidence": 0.5, "web": True}, "web_search"),
        (
            {"confidence": 0.4, "web_searched": True},
            {"min_confidence": 0.5, "web": True},
            "decline",
        ),
        ({"confidence": None}, {"min_confidence": 0.5}, "check_grounding"),
        ({"failed": "x"}, {}, "decline"),
    ],
)
def test_after_estimating(fields: dict[str, Any], options: dict[str, Any], expected: str) -> None:
    assert after_estimating(State(**fields), runtime(**options)) == expected


def test_what_failed_declines_at_once() -> None:
    failed = State(failed="x", standalone="How long do refunds take?")
    assert after_planning(failed, runtime(), chat=True) == "decline"
    assert after_retrieving(failed) == "decline"
    assert after_generating(failed) == "decline"


def test_what_went_well_goes_on() -> None:
    state = State(standalone="How long do refunds take?")
    assert after_planning(state, runtime(), chat=True) == "retrieve"
    assert after_retrieving(state) == "rerank"
    assert after_generating(state) == "estimate_confidence"
    assert after_estimating(state, runtime()) == "check_grounding"
    assert after_planning(State(standalone="hello"), runtime(), chat=True) == "answer_directly"
