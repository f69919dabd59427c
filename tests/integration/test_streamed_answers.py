"""Sentences are told as they stand, and what was told stays in the answer."""

import math
import time
from typing import Any

import pytest

from graph.adapters.grounding import QuoteChecker
from graph.builder import build
from graph.services import Services
from ingest.errors import DependencyError
from nodes.check_grounding import answers, shown
from nodes.context import Context
from nodes.findings import Sentence, Support
from nodes.ports import Draft
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, QuotingGenerator, Staged, a_candidate
from tests.runs import QUESTION, Told, kinds, ports, route, told_through

FIVE = a_candidate("a", "Refunds take five days.")
CARD = a_candidate("b", "They go to the card.")
NINE = a_candidate("c", "Swaps take nine days.")
ALL = [FIVE, CARD, NINE]


async def told(services: Services, **options: Any) -> Told:
    start = State(question=QUESTION, knowledge_base="kb", started_at=time.time())
    return await told_through(build(services), start, Context(**options))


def three(checker: Any, **more: Any) -> Services:
    grader = FakeGrader(dict.fromkeys("abc", "correct"))
    return ports(**({"index": FakeIndex(ALL), "grader": grader, "checker": checker} | more))


async def test_what_is_clear_is_told_before_the_others_are_judged() -> None:
    checker = Staged("card", seconds=0.3)
    run = await told(three(checker))
    assert [(index, text) for index, text, _ in run.deltas] == [
        (0, "Refunds take five days. [1]"),
        (2, "Swaps take nine days. [3]"),
        (1, "They go to the card. [2]"),
    ]
    first, second, third = (at for _, _, at in run.deltas)
    assert second - first < 0.2 < 0.3 <= third - first + 0.05
    assert checker.checked == [[CARD.chunk.text]], "the others are judged in one round, once"
    assert [shown(s) for s in run.state.draft] == [t for _, t, _ in sorted(run.deltas)]


async def test_a_sentence_that_fails_is_dropped_and_the_others_stay() -> None:
    run = await told(three(Staged("card", fails=["card"])))
    assert route(run.state).endswith("generate check generate check")
    assert run.state.outcome == "answered"
    assert [s.text for s in run.state.draft] == [FIVE.chunk.text, NINE.chunk.text]
    assert run.texts == [shown(s) for s in run.state.draft]


async def test_what_is_left_does_not_answer_and_nothing_of_it_was_told() -> None:
    """How long? They go to the card."""
    run = await told(three(Staged("five", fails=["five", "nine"])))
    assert (run.state.outcome, run.state.reason) == ("refused", "ungrounded")
    assert run.deltas == []


async def test_a_repair_takes_the_place_of_what_failed_with_a_number_of_its_own() -> None:
    run = await told(three(Staged("five", fails=["five"])), sentences=2)
    assert [shown(s) for s in run.state.draft] == [
        "They go to the card. [2]",
        "Swaps take nine days. [1]",
    ]
    assert [(index, text) for index, text, _ in run.deltas] == [
        (0, "They go to the card. [2]"),
        (2, "Swaps take nine days. [1]"),
    ]


async def test_a_repair_that_cannot_be_written_leaves_what_was_told() -> None:
    class Once(QuotingGenerator):
        async def generate(self, *args: Any, **more: Any) -> Draft:
            self.error = DependencyError("down") if self.asked else None
            return await super().generate(*args, **more)

    run = await told(three(Staged(fails=["card"]), generator=Once()))
    assert run.state.outcome == "answered"
    assert run.texts == [shown(s) for s in run.state.draft] != []
    assert ("generate", "dependency_down") in kinds(run.state)


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        ("Refunds take five days.", [], True),
        ("They go to the card.", [], False),
        ("They go to the card.", ["Which of the two gets them?"], True),
        ("They go to the card.", ["How long does it take?"], False),
        ("They go to the card.", ["How long does it take?", "Which of the two gets them?"], True),
    ],
)
def test_a_sentence_answers_where_it_holds_what_its_part_asks_for(
    text: str, parts: list[str], expected: bool
) -> None:
    assert answers(QUESTION, [Sentence(text, [], parts=parts)]) is expected
    assert not answers(QUESTION, [])


def garbage(verdicts: Any) -> Any:
    checker = Staged("card")

    async def check(question: str, sentences: Any, sources: Any) -> Any:
        return verdicts([s.text for s in sentences])

    checker.check = check  # type: ignore[method-assign]
    return checker


def hanging() -> Any:
    return Staged("card", seconds=60)


BROKEN = {
    "down": lambda: Staged("card", error=DependencyError("down")),
    "a bug": lambda: Staged("card", error=RuntimeError("bug")),
    "slow": hanging,
    "one too few": lambda: garbage(lambda texts: []),
    "one too many": lambda: garbage(lambda texts: [Support(texts[0], "supported", 1.0)] * 2),
    "other sentences": lambda: garbage(lambda texts: [Support("Another.", "supported", 1.0)]),
    "a string": lambda: garbage(lambda texts: "supported"),
    "strings": lambda: garbage(lambda texts: ["supported"]),
    "nothing": lambda: garbage(lambda texts: None),
    "no verdict": lambda: garbage(lambda texts: [None]),
    "NaN": lambda: garbage(lambda texts: [Support(texts[0], "supported", math.nan)]),
    "above one": lambda: garbage(lambda texts: [Support(texts[0], "supported", 1.5)]),
    "below zero": lambda: garbage(lambda texts: [Support(texts[0], "supported", -0.1)]),
    "unknown word": lambda: garbage(lambda texts: [Support(texts[0], "yes", 1.0)]),  # type: ignore[arg-type]
}
SAYS_SO = ("no verdict", "NaN", "above one", "below zero", "unknown word")
"""Only the sentence has no verdict; the check itself ran."""


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_broken_check_costs_what_it_left_open_and_tells_nothing_of_it(fault: str) -> None:
    run = await told(three(BROKEN[fault]()), deadline_s=1.0)
    assert [s.text for s in run.state.draft] == [FIVE.chunk.text, NINE.chunk.text]
    assert sorted(run.texts) == sorted(shown(s) for s in run.state.draft)
    if fault in SAYS_SO:
        assert run.state.outcome == "answered"
    else:
        assert run.state.outcome == "answered_partially"
        assert kinds(run.state)[-1][0] == "check_grounding"


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_broken_check_of_everything_is_refused(fault: str) -> None:
    checker = BROKEN[fault]()
    checker.open_parts = ("",)
    services = ports(index=FakeIndex([FIVE]), grader=FakeGrader({"a": "correct"}), checker=checker)
    run = await told(services, deadline_s=1.0)
    reason = "budget" if fault == "slow" else "dependency_down"
    assert run.state.outcome == "refused"
    assert run.state.reason == ("ungrounded" if fault in SAYS_SO else reason)
    assert run.deltas == []
    assert FIVE.chunk.text not in run.state.draft[0].text


@pytest.mark.parametrize("settles", [DependencyError("down"), [], None, ["supported"] * 3])
async def test_rules_that_fail_are_not_replaced_by_the_judge(settles: Any) -> None:
    checker = Staged("card")

    async def settled(*args: Any) -> Any:
        if isinstance(settles, Exception):
            raise settles
        return settles

    checker.settled = settled  # type: ignore[method-assign]
    run = await told(three(checker))
    assert (run.state.outcome, run.state.reason) == ("refused", "dependency_down")
    assert (run.deltas, checker.checked) == ([], [])


async def test_texts_that_cannot_be_read_tell_nothing() -> None:
    class Down(FakeIndex):
        async def text(self, *args: Any) -> Any:
            raise DependencyError("down")

    run = await told(three(Staged("card"), index=Down(ALL)))
    assert (run.state.outcome, run.state.reason) == ("refused", "dependency_down")
    assert run.deltas == []
    assert "citation_faults" not in run.state.trace[-2].summary


async def test_faults_of_citations_are_named_and_counted_in_the_trace() -> None:
    index = FakeIndex(ALL)
    index.texts[CARD.chunk.document_id, CARD.chunk.revision] = "Changed since."
    run = await told(three(QuoteChecker(), index=index))
    (first, *_) = [entry for entry in run.state.trace if entry.node == "check_grounding"]
    assert first.summary["citation_faults"] == {"stale": 1}
    (failed,) = first.summary["failed"]
    assert failed["problem"].startswith("stale: ")
    assert CARD.chunk.text not in run.texts
