"""A run whose documents answer differently ends in both answers, and is partial."""

from dataclasses import replace
from typing import Any

from ingest.documents import Candidate
from nodes.findings import Stated
from nodes.ports import GradedPassages
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, a_candidate, a_chunk, a_grade
from tests.runs import ports, route, run


class Unsure:
    def probability(self, signs: object) -> float:
        return 0.1


QUESTION = "How long do refunds take?"
FIVE = a_candidate("five", "Refunds take 5 days.")


def said(text: str, **metadata: str) -> Candidate:
    return Candidate(a_chunk("other", text, metadata=metadata), {"fused": 0.5})


async def answered(
    *found: Candidate, weaker: bool = False, question: str = QUESTION, **more: Any
) -> State:
    """Only the first sentence fits into the answer; the others are `weaker` evidence or not."""

    def graded(candidates: list[Candidate]) -> GradedPassages:
        verdicts = ["correct", *["ambiguous" if weaker else "correct"] * (len(candidates) - 1)]
        return GradedPassages(
            [
                replace(a_grade(verdict), sentences=[Stated(0, len(c.chunk.text), 0.8)])
                for verdict, c in zip(verdicts, candidates, strict=True)
            ]
        )

    index = FakeIndex(list(found))
    services = ports(index=index, grader=FakeGrader(graded), **more.pop("services", {}))
    return await run(services, question, sentences=1, **more)


async def test_both_answers_are_told_and_the_outcome_is_partial() -> None:
    for weaker in (False, True):
        state = await answered(FIVE, said("Refunds take 14 days."), weaker=weaker)
        assert [s.text for s in state.draft] == ["Refunds take 5 days.", "Refunds take 14 days."]
        assert [s.verdict for s in state.supports] == ["supported", "supported"]
        assert state.outcome == "answered_partially"
        assert route(state).endswith("grade generate check")
        (summary,) = [entry.summary for entry in state.trace if entry.node == "generate"]
        assert summary["disagreement"] == "the documents disagree"


async def test_the_current_document_is_a_whole_answer() -> None:
    old = said("Refunds take 14 days.", status="superseded", version="2")
    state = await answered(FIVE, old)
    assert (state.outcome, len(state.draft)) == ("answered", 1)
    assert state.draft[0].note.startswith("newer than other, version 2, which says")


async def test_documents_that_agree_are_a_whole_answer() -> None:
    state = await answered(FIVE, said("You have the refund after five days."))
    assert (state.outcome, state.reservations) == ("answered", [])


async def test_a_question_of_yes_or_no_is_not_answered_by_one_of_two_values() -> None:
    late = a_candidate("late", "The garage is open until 22:00.")
    early = said("The garage closes at 20:00.")
    state = await answered(late, early, question="Is the garage open at 21:00?")
    assert (state.outcome, len(state.draft)) == ("answered_partially", 2)
    assert all("disagree" in sentence.note for sentence in state.draft)
    state = await answered(late, early, question="Is the garage open at 12:00?")
    assert (state.outcome, len(state.draft)) == ("answered", 1)


async def test_documents_that_disagree_too_unsurely_to_be_told_are_the_reason_of_the_refusal() -> (
    None
):
    unsure = {"services": {"confidence": Unsure()}, "min_confidence": 0.5}
    state = await answered(FIVE, said("Refunds take 14 days."), **unsure)
    assert (state.outcome, state.reason) == ("refused", "conflicting")
    state = await answered(FIVE, said("You have the refund after five days."), **unsure)
    assert (state.outcome, state.reason) == ("refused", "no_evidence")
