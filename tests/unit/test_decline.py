"""A refusal: its reason, its language, and nothing of a failed draft."""

import time
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from ingest.documents import Candidate
from ingest.errors import DependencyError
from ingest.filters import Condition, Filters
from ingest.scope import Scope
from nodes.context import Context
from nodes.decline import TEXTS, decline
from nodes.findings import Evidence, Sentence
from nodes.settle import DISAGREE
from nodes.state import Reason, State
from tests.fakes import a_candidate, a_chunk, a_citation, a_grade

LATE = {"started_at": time.time() - 100}
DISAGREEING = {"rejected": ["x"], "reservations": [DISAGREE]}


def found(*verdicts: Any) -> dict[str, Any]:
    return {"evidence": [Evidence(a_candidate(v), a_grade(v), 0) for v in verdicts]}


def runtime(**options: Any) -> Any:
    return SimpleNamespace(context=Context(**options))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "no_evidence"),
        ({"web_searched": True, "loops_over": "x"}, "no_evidence"),
        ({"repairs": 1}, "no_evidence"),
        ({"repairs": 2, "rejected": ["x"]}, "ungrounded"),
        (DISAGREEING | found("correct", "correct"), "conflicting"),
        (DISAGREEING | found("correct", "ambiguous"), "ungrounded"),
        ({"reservations": [DISAGREE]} | found("correct", "ambiguous"), "no_evidence"),
        (LATE, "budget"),
        ({"repairs": 1} | LATE, "budget"),
        ({"failed": "the search could not run"}, "dependency_down"),
        ({"failed": "x"} | LATE, "dependency_down"),
    ],
)
async def test_gives_the_reason(fields: dict[str, Any], reason: str) -> None:
    update = await decline(State(standalone="How long?", **fields), runtime(deadline_s=30.0))
    assert (update["outcome"], update["reason"]) == ("refused", reason)
    (told,) = update["draft"]
    assert told.text.split("\n")[0] == TEXTS["en"][reason]  # type: ignore[index]


@pytest.mark.parametrize(
    ("question", "beginning"),
    [
        ("How long do refunds take?", "I don't know"),
        ("Wie lange dauert eine Erstattung?", "Das weiß ich nicht"),
        ("¿Cuánto tarda un reembolso?", "No lo sé"),
    ],
)
async def test_speaks_the_language_of_the_question(question: str, beginning: str) -> None:
    update = await decline(State(standalone=question), runtime())
    assert update["draft"][0].text.startswith(beginning)


async def test_keeps_nothing_of_a_failed_draft() -> None:
    draft = [Sentence("made up", [a_citation(a_chunk("a"))])]
    update = await decline(State(standalone="?", draft=draft, repairs=2), runtime())
    assert update["draft"][0].citations == []
    assert "made up" not in update["draft"][0].text


async def test_says_what_failed() -> None:
    update = await decline(State(standalone="?", failed="the search could not run"), runtime())
    assert update["summary"]["reason"] == "dependency_down"
    assert update["summary"]["detail"] == "the search could not run"


async def test_names_the_nearest_places_but_no_address_in_them() -> None:
    chunk = a_chunk("a", title="Refund policy", heading="Payment", metadata={"source": "refund.md"})
    near = Candidate(chunk, {"dense": 0.6}, [])
    hostile = Candidate(a_chunk("b", title="See http://evil.test"), {"dense": 0.6}, [])
    update = await decline(State(standalone="How long?", candidates=[near, hostile]), runtime())
    (told,) = update["draft"]
    assert "Closest, but not an answer:\n  Refund policy > Payment (refund.md)" in told.text
    assert "evil" not in told.text


@pytest.mark.parametrize(
    ("dense", "question", "reason"),
    [
        (0.2, "What is the boiling point of nitrogen?", "out_of_scope"),
        (0.6, "What is the boiling point of nitrogen?", "no_evidence"),
        (0.2, "What is the boiling point of E-4102?", "no_evidence"),
        (0.2, "Wie hoch ist der Siedepunkt von Stickstoff?", "no_evidence"),
    ],
)
async def test_is_out_of_scope_where_nothing_comes_near(
    dense: float, question: str, reason: str
) -> None:
    found = [Candidate(a_chunk("a", "The code E-4102 is for the fan."), {"dense": dense}, [])]
    asked = State(standalone=question, candidates=found)
    assert (await decline(asked, runtime(), in_scope=0.3))["reason"] == reason


async def test_what_a_filter_leaves_is_not_what_the_base_is_about() -> None:
    found = [Candidate(a_chunk("a", "The fan of the base is loud."), {"dense": 0.2}, [])]
    asked = State(standalone="What is the boiling point?", candidates=found)
    filtered = replace(asked, filters=Filters([Condition("language", ["en"])]))
    for state, reason in ((asked, "out_of_scope"), (filtered, "no_evidence")):
        assert (await decline(state, runtime(), in_scope=0.3))["reason"] == reason


class Others:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def holding(self, scope: Scope, question: str, *, besides: Sequence[str]) -> list[str]:
        if self.error:
            raise self.error
        return [name for name in ("kb", "travel") if name not in besides]


async def test_names_another_base_that_has_it() -> None:
    state = State(standalone="How much is a taxi?", knowledge_base="kb")
    update = await decline(state, runtime(), others=Others())
    assert update["suggestions"][0] == "Another knowledge base may have it: travel."
    assert update["draft"][0].text.endswith("\n".join(update["suggestions"]))


async def test_a_look_elsewhere_that_fails_is_recorded_and_refuses_all_the_same() -> None:
    others = Others(DependencyError("down"))
    update = await decline(State(standalone="How much?"), runtime(), others=others)
    assert update["outcome"] == "refused"
    assert [fault.node for fault in update["degraded"]] == ["decline"]


def test_every_reason_has_a_text_in_every_language() -> None:
    assert set(TEXTS) == {"en", "de", "es"}
    for texts in TEXTS.values():
        assert set(texts) == set(get_args(Reason))
