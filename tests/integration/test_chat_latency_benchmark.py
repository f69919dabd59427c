"""The benchmark of runs with chat models still runs, and its runs end as they are planned."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from eval.benchmarks.chat_latency import Runs
from eval.benchmarks.chat_world import Planned, script
from tests.fake_chat import fake_chat

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize(
    ("loop", "verdicts", "calls", "web"),
    [(0, "batched", 3, 0), (1, "batched", 4, 0), (0, "logprob", 12, 0), (None, "batched", 7, 1)],
)
async def test_a_planned_run_ends_in_its_answer(
    loop: int | None, verdicts: str, calls: int, web: int
) -> None:
    with fake_chat() as chat:
        chat.script = script
        runs = Runs(chat.url, InMemorySaver(), verdicts)
        try:
            ran = await runs.run(Planned("a0x", loop))
        finally:
            await runs.close()
    assert (ran.calls, ran.web) == (calls, web)
