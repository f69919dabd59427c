"""A refusal: its reason, its language, and nothing of a failed draft."""

import time
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from nodes.context import Context
from nodes.decline import TEXTS, decline
from nodes.state import Reason, Sentence, State
from tests.fakes import a_chunk, a_citation

LATE = {"started_at": time.time() - 100}


def runtime(**options: Any) -> Any:
    return SimpleNamespace(context=Context(**options))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "no_evidence"),
        ({"web_searched": True, "loops_over": "x"}, "no_evidence"),
        ({"repairs": 1}, "no_evidence"),
        ({"repairs": 2, "rejected": ["x"]}, "ungrounded"),
        (LATE, "budget"),
        ({"repairs": 1} | LATE, "budget"),
        ({"failed": "the search could not run"}, "dependency_down"),
        ({"failed": "x"} | LATE, "dependency_down"),
    ],
)
async def test_gives_the_reason(fields: dict[str, Any], reason: str) -> None:
    update = await decline(State(standalone="How long?", **fields), runtime(deadline_s=30.0))
    assert (update["outcome"], update["reason"]) == ("refused", reason)
    assert update["draft"] == [Sentence(TEXTS["en"][reason], [])]  # type: ignore[index]


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
    assert update["summary"] == {"reason": "dependency_down", "detail": "the search could not run"}


def test_every_reason_has_a_text_in_every_language() -> None:
    assert set(TEXTS) == {"en", "de", "es"}
    for texts in TEXTS.values():
        assert set(texts) == set(get_args(Reason))
