"""The cascade: the scorer decides the clear ends, the chat model is asked for the middle."""

from collections.abc import Sequence
from typing import Any

import pytest

from graph.adapters.chat_grading import ChatGrader
from ingest.documents import Candidate
from nodes.findings import Grade, Stated
from nodes.ports import GradedPassages
from tests.chat_runs import chat_model
from tests.fake_chat import FakeChat, Reply
from tests.fakes import FakeGrader, a_candidate

QUESTION = "How long do refunds take?"
NAMES = "abc"


async def graded(
    chat: FakeChat,
    scored: Sequence[Grade | None],
    *,
    batched: bool = True,
    problem: str = "",
    sure: float = 0.9,
    **bars: float | None,
) -> GradedPassages:
    scorer = FakeGrader(lambda candidates: GradedPassages(list(scored), problem))
    grader = ChatGrader(scorer, chat_model(chat), sure=sure, batched=batched)
    found = passages(len(scored))
    given = {"upper": None, "lower": None} | bars
    return await grader.grade(QUESTION, found, among=found, **given)


def passages(n: int) -> list[Candidate]:
    return [a_candidate(name, f"Passage {name}.") for name in NAMES[:n]]


def yes(probability: float) -> Reply:
    word = "Yes" if probability >= 0.5 else "No"
    return Reply(word, {"Yes": probability, "No": 1 - probability})


def verdicts(passages: GradedPassages) -> list[str | None]:
    return [grade and grade.verdict for grade in passages.grades]


SURE, HOPELESS, MIDDLE = Grade("correct", 0.95), Grade("incorrect", 0.02), Grade("ambiguous", 0.3)


@pytest.mark.parametrize("batched", [True, False])
async def test_a_sure_and_a_hopeless_passage_cost_no_call(chat: FakeChat, batched: bool) -> None:
    found = await graded(chat, [SURE, HOPELESS], batched=batched)
    assert found.grades == [SURE, HOPELESS]
    assert chat.requests == []


async def test_only_the_middle_is_asked_for_in_one_call(chat: FakeChat) -> None:
    chat.script = lambda body: '{"answering": [2, 7]}'
    found = await graded(chat, [SURE, MIDDLE, Grade("correct", 0.6)])
    assert verdicts(found) == ["correct", "incorrect", "correct"]
    (request,) = chat.requests
    shown = request.body["messages"][-1]["content"]
    assert "Passage a" not in shown and "Passage b" in shown and "Passage c" in shown


async def test_one_token_calls_go_out_side_by_side(chat: FakeChat) -> None:
    chat.latency_s = 0.2
    chat.script = lambda body: yes(0.9)
    await graded(chat, [MIDDLE] * 3, batched=False)
    assert (len(chat.requests), chat.most_at_once()) == (3, 3)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [(0.5, "correct"), (0.49, "ambiguous"), (0.25, "ambiguous"), (0.24, "incorrect")],
)
async def test_bars_of_the_model_s_own_probability(
    chat: FakeChat, said: float, verdict: str
) -> None:
    chat.script = lambda body: yes(said)
    assert verdicts(await graded(chat, [MIDDLE], batched=False)) == [verdict]


@pytest.mark.parametrize(
    ("bars", "said", "verdict"),
    [
        ({"upper": 0.8}, 0.7, "ambiguous"),
        ({"upper": 0.8}, 0.85, "correct"),
        ({"upper": 0.1}, 0.4, "ambiguous"),  # never looser than its own
        ({"lower": 0.4}, 0.3, "incorrect"),
    ],
)
async def test_stricter_bars_hold_for_the_model_too(
    chat: FakeChat, bars: dict[str, float], said: float, verdict: str
) -> None:
    chat.script = lambda body: yes(said)
    assert verdicts(await graded(chat, [MIDDLE], batched=False, **bars)) == [verdict]


async def test_a_scorer_that_is_not_calibrated_is_sure_of_none(chat: FakeChat) -> None:
    chat.script = lambda body: '{"answering": [2]}'
    found = await graded(chat, [Grade("ambiguous", 0.99), HOPELESS], problem="no calibration")
    assert verdicts(found) == ["incorrect", "correct"]
    assert found.degraded == ""


@pytest.mark.parametrize("none", [None, Grade("ambiguous", None)])
async def test_a_passage_that_the_scorer_cannot_grade_is_asked_for(
    chat: FakeChat, none: Grade | None
) -> None:
    chat.script = lambda body: '{"answering": [1]}'
    assert verdicts(await graded(chat, [none])) == ["correct"]


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize(
    ("kind", "code"), [("status", "dependency_down"), ("refusal", "no_verdict")]
)
async def test_where_no_call_works_the_scorer_stands_and_it_is_said(
    chat: FakeChat, kind: Any, code: str, batched: bool
) -> None:
    chat.breaks(kind, times=9)
    found = await graded(chat, [MIDDLE, Grade("correct", 0.6)], batched=batched)
    assert found.grades == [MIDDLE, Grade("correct", 0.6)]
    assert (found.kind, found.fallback) == (code, "the scorer's verdicts")
    assert found.degraded.startswith("graded without the chat model: ")


async def test_signs_and_sentences_of_the_scorer_stay(chat: FakeChat) -> None:
    chat.script = lambda body: '{"answering": [1]}'
    (grade,) = (
        await graded(chat, [Grade("ambiguous", 0.3, {"lead": 0.2}, [Stated(0, 7, 0.3)])])
    ).grades
    assert grade == Grade("correct", 1.0, {"lead": 0.2, "chat": 1.0}, [Stated(0, 7, 0.3)])
