"""The option `strips` of a run: what the generator reads, and what the trace says of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nodes.findings import Evidence, Stated
from nodes.ports import Draft, GradedPassages
from tests.fakes import FakeGrader, FakeIndex, QuotingGenerator, a_candidate, a_grade
from tests.runs import ports, run

TEXT = "Refunds take 5 days.\nThe canteen is closed."


class Reading(QuotingGenerator):
    """Remembers the evidence that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[Evidence] = []

    async def generate(self, question: str, evidence: Sequence[Evidence], **more: Any) -> Draft:
        self.read += evidence
        return await super().generate(question, evidence, **more)


@pytest.mark.parametrize(("on", "dropped"), [(True, 1), (False, 0)])
async def test_strips_are_read_where_they_are_on(on: bool, dropped: int) -> None:
    judged = [Stated(0, 20, 0.9), Stated(21, 43, 0.1)]
    grade = replace(a_grade("correct"), sentences=judged)
    grader = FakeGrader(lambda candidates: GradedPassages([grade]))
    generator = Reading()
    index = FakeIndex([a_candidate("a", TEXT)])
    state = await run(ports(index=index, grader=grader, generator=generator), strips=on)
    assert generator.read[0].strips == (judged[:1] if on else None)
    (summary,) = [entry.summary for entry in state.trace if entry.node == "generate"]
    assert summary["strips"] == {"kept": int(on), "dropped": dropped}
    assert state.evidence[0].strips is None  # a checkpoint holds the passage alone
