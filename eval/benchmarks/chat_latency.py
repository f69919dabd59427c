"""What a run with chat models takes where every call takes 200 ms.

30 questions, ten candidates each, all of them in the band that the chat model is asked for: the
cascade saves no call here. Half of the questions are answered by the first search, ten by the
second, three by the third, and two by the web alone. The graph, its checkpoints, the chat ports and
the vendor's client are real; search, reranker and scorer are scripted and cost next to nothing (see
`ask_latency` for theirs), and a server of the tests plays the model, in a process of its own.

python -m eval.benchmarks.chat_latency [--json] [--rounds 3]
"""

import argparse
import asyncio
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.benchmarks.chat_world import (
    CALL_S,
    CANDIDATES,
    RUN,
    STRAIGHT,
    Planned,
    Progress,
    Scripted,
    Web,
    model_server,
    planned,
)
from eval.benchmarks.report import Figure, figure, finish
from graph.adapters.checkpoints import plain_serializer
from graph.adapters.grounding import QuoteChecker
from graph.builder import build, recursion_limit
from graph.chat_ports import with_chat
from graph.runner import Ask, fresh_state
from graph.services import Services
from graph.settings import ChatSettings, GraphSettings
from nodes.context import Context
from nodes.state import State

CONCURRENT = 16
ROUNDS_STRAIGHT = 3
"""Grade, generate, check: the calls of a straight run, one after another."""

OVER_CALLS, P50_S, P95_S, MEAN_CALLS, OVER_ONE = 1.12, 0.8, 2.2, 6.0, 1.5


@dataclass(frozen=True)
class Ran:
    question: Planned
    seconds: float
    calls: int
    web: int
    state: State


class Runs:
    """Runs of one graph with checkpoints in one file."""

    def __init__(self, url: str, saver: Any, verdicts: Any = "batched") -> None:
        chat = ChatSettings(model="openai:fake", base_url=url, verdicts=verdicts)
        ports = Scripted()
        scripted = Services(ports, ports, ports, Web(), ports, QuoteChecker())
        self._services = with_chat(GraphSettings(chat=chat), scripted)
        self._graph: Any = build(self._services, saver)

    async def close(self) -> None:
        await self._services.close()

    async def run(self, question: Planned) -> Ran:
        """Raises RuntimeError for a question that does not end in its answer."""
        progress = Progress(question)
        RUN.set(progress)
        clock = time.perf_counter()
        seen = [
            values
            async for values in self._graph.astream(
                fresh_state(Ask(question.text, "bench")),
                context=Context(web=True, keep=CANDIDATES),
                stream_mode="values",
                config={
                    "recursion_limit": recursion_limit(self._graph, 3),
                    "configurable": {"thread_id": uuid.uuid4().hex},
                },
                durability="exit",
            )
        ]
        seconds = time.perf_counter() - clock
        last: Any = seen[-1]
        state = last if isinstance(last, State) else State(**last)
        if state.outcome != "answered" or state.degraded:
            raise RuntimeError(f"{question}: {state.outcome}, {state.degraded}")
        return Ran(question, seconds, state.spent.chat_calls, progress.web, state)


async def measure(url: str, rounds: int, folder: Path) -> list[Figure]:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(folder / "threads.sqlite")) as saver:
        saver.serde = plain_serializer()
        batched, one_token = Runs(url, saver), Runs(url, saver, "logprob")
        for question in planned()[:3]:
            await batched.run(question)  # warms up
            await one_token.run(question)
        alone = [await batched.run(q) for _ in range(rounds) for q in planned()]
        grading = [await one_token.run(q) for q in planned()[:STRAIGHT]]
        together = await concurrently(batched, planned() * rounds)
        await batched.close()
        await one_token.close()
    return figures(alone, grading, together)


async def concurrently(runs: Runs, questions: Sequence[Planned]) -> list[Ran]:
    waiting = iter(questions)
    done: list[Ran] = []

    async def asks() -> None:
        for question in waiting:
            done.append(await runs.run(question))

    await asyncio.gather(*(asks() for _ in range(CONCURRENT)))
    return done


def figures(alone: list[Ran], grading: list[Ran], together: list[Ran]) -> list[Figure]:
    straight = [one for one in alone if one.question.loop == 0]
    corrected = [one.seconds for one in alone if one.question.loop != 0]
    seconds = [one.seconds for one in alone]
    calls = [float(one.calls) for one in alone]
    needless = [float(one.web) for one in alone + together if one.question.loop is not None]
    over = [one.seconds / (CALL_S * ROUNDS_STRAIGHT) for one in straight]
    most = [float(one.calls) for one in straight]
    rounds = [_ms(one.state, "grade_documents") / 1000 / CALL_S for one in grading]
    p95, p95_together = (
        float(np.percentile([one.seconds for one in ran], 95)) for ran in (alone, together)
    )
    return [
        figure("straight run, chat calls", most, "calls", at_most=ROUNDS_STRAIGHT),
        figure("straight run over its calls", over, "times", at_most=OVER_CALLS),
        figure("straight run", [one.seconds for one in straight], "s"),
        figure("corrected run", corrected, "s"),
        _mean("chat calls of a run, mean", calls, "calls", MEAN_CALLS),
        figure("run, p50", seconds, "s", at_most=P50_S),
        _single("run, p95", p95, seconds, "s", P95_S),
        figure("grading 10 passages by one token each", rounds, "rounds", at_most=1.5),
        figure("web searches where the base answers", needless, "searches", at_most=0),
        _single(
            f"p95 of {CONCURRENT} runs at once over one",
            p95_together / p95,
            [one.seconds / p95 for one in together],
            "times",
            OVER_ONE,
        ),
    ]


def _ms(state: State, node: str) -> float:
    return sum(entry.ms for entry in state.trace if entry.node == node)


def _mean(name: str, values: Sequence[float], unit: str, at_most: float) -> Figure:
    return _single(name, float(np.mean(values)), values, unit, at_most)


def _single(name: str, value: float, of: Sequence[float], unit: str, at_most: float) -> Figure:
    p10, p90 = (round(float(p), 4) for p in np.percentile(of, [10, 90]))
    return Figure(name, round(value, 4), unit, len(of), p10, p90, at_most)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        measured = asyncio.run(measure(url, given.rounds, Path(folder)))
    parts = {
        "chat model": f"scripted, {CALL_S:g} s a call",
        "questions": f"{len(planned())} x {given.rounds}, {STRAIGHT} of them straight",
    }
    finish("chat_latency", measured, parts, as_json=given.json)


if __name__ == "__main__":
    main()
