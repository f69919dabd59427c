"""A port that never answers is cut: a run ends by its deadline, whichever port hangs."""

import asyncio
import inspect
import time
from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

import pytest

from graph.services import Services
from ingest.errors import DependencyTimeout
from ingest.records import DocumentRecord, KnowledgeBase
from ingest.scope import Scope
from nodes.budget import RESERVE, Meter
from nodes.context import Context
from nodes.fallback import or_fallback
from nodes.state import State, Turn
from tests.fakes import (
    FakeGrader,
    FakeIndex,
    FakeReranker,
    FakeWeb,
    QuotingGenerator,
    Staged,
    Sure,
    a_candidate,
)
from tests.runs import QUESTION, kinds, ports, run

DEADLINE_S = 0.5
SLACK_S = 0.5
"""For a machine that is busy with other things."""


async def hang(*args: Any, **more: Any) -> Any:
    await asyncio.Event().wait()


class Writer:
    """Words everything as it was, until a method is replaced."""

    async def standalone(self, question: str, history: Any) -> str:
        return question

    async def rewritten(self, question: str, **more: Any) -> str:
        return f"{question} again"

    async def parts(self, question: str) -> list[str]:
        return []

    async def phrasings(self, question: str, count: int) -> list[str]:
        return []

    async def synonyms(self, question: str) -> list[str]:
        return []

    async def step_back(self, question: str) -> str:
        return question

    async def made_up(self, question: str) -> str:
        return ""

    async def next_hop(self, question: str, asked: Any, passages: Any) -> str:
        return ""


class Bases:
    async def named(self, scope: Scope, asked: str) -> list[KnowledgeBase]:
        return [KnowledgeBase(name, "", "", "", "") for name in asked.split(",")]


class Router:
    async def scores(self, scope: Scope, question: str, bases: Sequence[str]) -> dict[str, float]:
        return dict.fromkeys(bases, 0.5)


class Cache:
    async def find(self, key: str, question: str) -> None:
        return None

    async def keep(self, key: str, answer: Any) -> None:
        return None


class Others:
    async def holding(self, scope: Scope, question: str, *, besides: Sequence[str]) -> list[str]:
        return []


class Held:
    async def documents(self, scope: Scope, knowledge_base: str) -> list[DocumentRecord]:
        return []


PORTS: dict[str, Any] = {
    "index": lambda: FakeIndex([a_candidate("a")]),
    "reranker": FakeReranker,
    "grader": lambda: FakeGrader({"a": "ambiguous"}),
    "web": FakeWeb,
    "generator": QuotingGenerator,
    "checker": lambda: Staged("Passage"),
    "writer": Writer,
    "others": Others,
    "cache": Cache,
    "documents": Held,
    "bases": Bases,
    "router": Router,
}
CLOSED = [
    ("bases", "named", "route_question"),
    ("index", "search", "retrieve"),
    ("index", "text", "check_grounding"),
    ("grader", "grade", "grade_documents"),
    ("generator", "generate", "generate"),
    ("checker", "settled", "check_grounding"),
    ("checker", "check", "check_grounding"),
]
OPEN = [
    ("reranker", "rerank", "rerank"),
    ("web", "search", "web_search"),
    ("writer", "standalone", "contextualize_question"),
    ("writer", "rewritten", "rewrite_query"),
    ("writer", "parts", "plan_queries"),
    ("writer", "phrasings", "plan_queries"),
    ("writer", "synonyms", "plan_queries"),
    ("writer", "step_back", "plan_queries"),
    ("writer", "made_up", "plan_queries"),
    ("writer", "next_hop", "follow_hops"),
    ("router", "scores", "route_question"),
    ("index", "version", "check_cache"),
    ("cache", "find", "check_cache"),
    ("documents", "documents", "plan_queries"),
]


async def run_with(port: str, method: str, deadline_s: float = DEADLINE_S) -> tuple[Any, float]:
    """The state it ended in, and the seconds by which it missed its deadline."""
    services = {name: make() for name, make in PORTS.items()}
    setattr(services[port], method, hang)
    asked = {
        "history": [Turn("What is a refund?", "Money.")],
        "web": True,
        "cache": True,
        "query_filters": True,
        "knowledge_base": "kb,other",
        "route": True,
        "phrasings": 3,
        "synonyms": True,
        "step_back": True,
        "hyde": True,
        "hops": 2,
    }
    began = time.monotonic()
    question = f"{QUESTION} And what does it cost?"
    state = await run(ports(**services), question, deadline_s=deadline_s, **asked)
    return state, time.monotonic() - began - deadline_s


@pytest.mark.parametrize(("port", "method", "node"), CLOSED)
async def test_truth_and_access_fail_closed(port: str, method: str, node: str) -> None:
    state, missed = await run_with(port, method)
    assert (state.outcome, state.reason) == ("refused", "budget")
    assert kinds(state)[-1] == (node, "budget")
    assert missed < SLACK_S


@pytest.mark.parametrize(("port", "method", "node"), OPEN)
async def test_ranking_fails_open(port: str, method: str, node: str) -> None:
    late = node in ("rewrite_query", "web_search")  # not reached where time is over before
    state, missed = await run_with(port, method, DEADLINE_S * (4 if late else 1))
    assert state.outcome == "answered_partially"
    assert (node, "budget") in kinds(state)
    assert missed < SLACK_S


async def test_a_suggestion_is_left_out() -> None:
    services = {name: make() for name, make in PORTS.items()}
    services["others"].holding = hang
    services["grader"] = FakeGrader()
    began = time.monotonic()
    state = await run(ports(**services), deadline_s=DEADLINE_S)
    assert (state.outcome, state.reason) == ("refused", "no_evidence")
    assert kinds(state)[-1] == ("decline", "budget")
    assert time.monotonic() - began < DEADLINE_S + SLACK_S


def test_ports_that_hang_one_after_another_end_about_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last search, then what is left to do without it: texts, two checks, the cache."""
    now = 1_000.0
    monkeypatch.setattr("nodes.budget.time.time", lambda: now)
    meter = Meter(State(started_at=now), Context(deadline_s=30.0))
    for _ in range(5):
        now += meter.port_seconds_left() or 0.0
    assert 1_029.5 < now <= 1_030.5


async def test_an_answer_that_cannot_be_kept_is_told() -> None:
    services = {name: make() for name, make in PORTS.items()}
    services["cache"].keep = hang
    services["grader"] = FakeGrader({"a": "correct"})
    began = time.monotonic()
    state = await run(ports(**services, confidence=Sure()), deadline_s=DEADLINE_S, cache=True)
    assert state.outcome == "answered"
    assert kinds(state) == [("store_answer", "budget")]
    assert time.monotonic() - began < DEADLINE_S + SLACK_S


def test_every_port_of_a_run_hangs_here_in_turn() -> None:
    named = {
        (port, method)
        for port, protocol in get_type_hints(Services).items()
        for one in (protocol, *get_args(protocol))
        for method, function in inspect.getmembers(one, inspect.iscoroutinefunction)
        if method != "close"
    }
    tried = {(port, method) for port, method, _ in [*CLOSED, *OPEN]}
    tried |= {("others", "holding"), ("cache", "keep")}
    assert named == tried - {("checker", "settled")}, "of StagedChecker, a kind of checker"


async def test_without_a_deadline_nothing_is_cut() -> None:
    class Slow(FakeReranker):
        async def rerank(self, *args: Any) -> Any:
            await asyncio.sleep(0.05)
            return await super().rerank(*args)

    state = await run(ports(reranker=Slow()), deadline_s=None)
    assert (state.outcome, state.degraded) == ("answered", [])


async def test_a_port_s_own_timeout_is_its_own() -> None:
    async def raises(error: Exception) -> None:
        raise error

    for error in (TimeoutError("mine"), DependencyTimeout("mine")):
        _, (fault,) = await or_fallback(raises(error), None, node="n", fallback="f")
        assert (fault.kind, fault.detail) != ("budget", "mine")
        assert fault.detail == "mine"


async def test_who_leaves_is_no_fallback() -> None:
    waiting = asyncio.create_task(or_fallback(hang(), None, node="n", fallback="f"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_what_was_found_is_still_told_long_after_the_deadline() -> None:
    """As where a person goes on with a run that was interrupted: the reserve is left for it."""

    class Short(Staged):
        async def check(self, *args: Any) -> Any:
            await asyncio.sleep(DEADLINE_S * RESERVE / 10)
            return await super().check(*args)

    late = {"started_at": time.time() - 60, "deadline_s": DEADLINE_S}
    assert (await run(ports(checker=Short()), **late)).outcome == "answered"
