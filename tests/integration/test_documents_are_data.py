"""Whole runs in which documents, the web or people say what must go no further."""

from graph.answer import answer_from
from graph.run_log import RunLog
from ingest.documents import Candidate
from ingest.scope import LOCAL
from nodes.context import Context
from tests.fakes import FakeGrader, FakeIndex, a_chunk
from tests.runs import ports, run

ADDRESS = "ada@example.org"
ASKED = f"Which door code was sent to {ADDRESS}?"


def one_passage(text: str, **chunk: str) -> FakeIndex:
    return FakeIndex([Candidate(a_chunk("a", text, **chunk), {"dense": 0.9})])


async def test_the_trace_and_the_log_are_masked_and_the_answer_is_not() -> None:
    state = await run(ports(index=one_passage(f"The code was sent to {ADDRESS}.")), ASKED)
    answer = answer_from(state, Context(), run_id="r1", versions={}, total_ms=1.0)
    assert answer.answer == f"The code was sent to {ADDRESS}. [1]"
    assert ADDRESS not in str(answer.trace) and "[e-mail]" in str(answer.trace)
    for mask in (True, False):
        log = RunLog(":memory:", mask=mask)
        await log.add(LOCAL, "kb", answer)
        kept = str([await log.get(LOCAL, "r1"), await log.recent(LOCAL)])
        assert (ADDRESS in kept) is not mask
        log.close()


async def test_masking_can_be_switched_off() -> None:
    state = await run(ports(index=one_passage("The code is 7.")), ASKED, mask=False)
    assert ADDRESS in str(state.trace)


async def test_what_a_failed_part_said_is_masked() -> None:
    failing = FakeGrader(lambda candidates: (_ for _ in ()).throw(ValueError(f"no {ADDRESS}")))
    state = await run(ports(grader=failing))
    assert [fault.detail for fault in state.degraded] == ["no [e-mail]"]
