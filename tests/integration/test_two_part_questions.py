"""A question with two parts may be answered in one and declined in the other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graph.answer import answer_from
from ingest.documents import Candidate
from nodes.context import DEFAULTS, Context
from nodes.plan_queries import plan_queries
from nodes.ports import GradedPassages
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, FakeReranker, a_candidate, a_grade
from tests.runs import ports, route, run

ONE, TWO = "How long do refunds take?", "Who is the head of the choir?"
REFUNDS = a_candidate("refunds", "Refunds take 5 days.")
CHOIR = a_candidate("choir", "Mia Roth leads the choir.")


class ByPart(FakeGrader):
    """A passage is correct for the part that it is of."""

    async def grade(
        self, question: str, candidates: Sequence[Candidate], **more: Any
    ) -> GradedPassages:
        self.questions.append(question)
        right = "refunds" if question == ONE else "choir"
        named = ["correct" if c.chunk.chunk_id == right else "incorrect" for c in candidates]
        return GradedPassages([replace(a_grade(verdict)) for verdict in named])


async def answered(*found: Candidate, **options: Any) -> tuple[State, str]:
    services = ports(index=FakeIndex(list(found)), grader=ByPart(), reranker=FakeReranker())
    state = await run(services, f"{ONE} {TWO}", **options)
    answer = answer_from(state, DEFAULTS, run_id="r", versions={}, total_ms=1.0)
    return state, answer.answer


async def test_both_parts_are_answered_from_their_own_passages() -> None:
    state, answer = await answered(REFUNDS, CHOIR)
    assert answer == "Refunds take 5 days. [1]\nMia Roth leads the choir. [2]"
    assert [s.parts for s in state.draft] == [[ONE], [TWO]]
    assert (state.outcome, state.spent.rewrites) == ("answered", 0)


async def test_a_part_without_an_answer_is_looked_for_and_then_named() -> None:
    state, answer = await answered(REFUNDS)
    assert answer == f"Refunds take 5 days. [1]\nI found nothing on: {TWO}"
    assert state.outcome == "answered_partially"
    assert "rewrite" in route(state) and route(state).endswith("generate check")


async def test_without_any_answer_the_whole_question_is_refused() -> None:
    state, answer = await answered(a_candidate("other"))
    assert (state.outcome, state.reason) == ("refused", "no_evidence")
    assert "nothing on" not in answer


async def test_switched_off_it_is_asked_as_one() -> None:
    state, _ = await answered(REFUNDS, CHOIR, parts=False)
    assert [query.technique for query in state.queries] == ["original"]
    assert [s.parts for s in state.draft] == [[]]
    update = await plan_queries(state, AsOne(), writer=NotAsked())  # type: ignore[arg-type]
    assert [query.text for query in update["queries"]] == [f"{ONE} {TWO}"]
    assert not update["degraded"]


class AsOne:
    context = Context(parts=False)


class NotAsked:
    async def parts(self, question: str) -> list[str]:
        raise AssertionError("asked")
