"""Runs that end in a refusal for want of confidence, or that ask back instead of answering."""

from collections.abc import Mapping

from nodes.ports import GradedPassages, WebResult
from nodes.state import Turn
from tests.fakes import FakeGrader, FakeIndex, FakeWeb, a_candidate, a_grade
from tests.runs import ports, route, run

UNSURE = {"min_confidence": 0.5}
BEGINNING = "context plan retrieve rerank grade"


class Sure:
    """As sure as it is told to be, of every draft."""

    def __init__(self, *levels: float) -> None:
        self.levels = list(levels)

    def probability(self, signs: Mapping[str, float]) -> float:
        return self.levels.pop(0)


async def test_too_unsure_a_draft_is_refused_before_it_is_checked_or_told() -> None:
    state = await run(ports(confidence=Sure(0.4)), **UNSURE)
    assert (
        route(state, "estimate_confidence") == f"{BEGINNING} generate estimate_confidence decline"
    )
    assert (state.outcome, state.reason) == ("refused", "no_evidence")
    assert "Passage a" not in state.draft[0].text
    assert "too unsure to be told (0.40, needed 0.50)" in state.draft[0].text
    assert state.confidence is None


async def test_what_was_never_drafted_is_not_said_to_be_unsure() -> None:
    state = await run(ports(grader=FakeGrader({}), confidence=Sure()), **UNSURE)
    assert (state.outcome, state.reason) == ("refused", "no_evidence")
    assert "unsure" not in state.draft[0].text


async def test_a_sure_one_is_answered_with_its_confidence() -> None:
    state = await run(ports(confidence=Sure(0.6)), **UNSURE)
    assert (state.outcome, state.confidence) == ("answered", 0.6)


async def test_too_unsure_a_draft_is_looked_up_on_the_web_where_the_base_allows_it() -> None:
    page = WebResult("https://example.org/refunds", "Refunds", "Refunds take five days.")
    services = ports(
        confidence=Sure(0.4, 0.9),
        web=FakeWeb([page]),
        grader=FakeGrader(lambda found: GradedPassages([a_grade("correct") for _ in found])),
    )
    state = await run(services, web=True, **UNSURE)
    assert route(state) == f"{BEGINNING} generate web rerank grade generate check"
    assert (state.outcome, state.confidence) == ("answered", 0.9)
    assert {c.kind for sentence in state.draft for c in sentence.citations} == {"web"}


TIED = {
    "index": FakeIndex([a_candidate("a"), a_candidate("b")]),
    "grader": FakeGrader({"a": "correct", "b": "correct"}),
}


async def test_a_question_without_its_subject_is_asked_back() -> None:
    state = await run(ports(**TIED), question="How much does it cost?")
    assert route(state, "clarify") == f"{BEGINNING} clarify"
    assert (state.outcome, state.choices) == ("needs_clarification", ["a", "b"])
    assert state.draft[0].text == "Which of these do you mean: a or b?"


async def test_asking_back_can_be_switched_off_and_ends_with_the_answer_to_it() -> None:
    off = await run(ports(**TIED), question="How much does it cost?", clarify=False)
    assert off.outcome == "answered"
    told = [Turn("How much does it cost?", "Which of these do you mean: a or b?")]
    then = await run(ports(**TIED), question="The first, a gateway", history=told)
    assert then.outcome == "answered"
