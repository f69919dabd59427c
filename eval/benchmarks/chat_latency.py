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
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.benchmarks.report import Figure, figure, finish
from graph.adapters.checkpoints import plain_serializer
from graph.builder import build, recursion_limit
from graph.compose import with_chat
from graph.runner import Ask, fresh_state
from graph.services import Services
from graph.settings import ChatSettings, GraphSettings
from ingest.documents import Candidate, Chunk
from ingest.scope import Scope
from nodes.context import Context
from nodes.ports import Draft, GradedPassages, Sources, WebResult
from nodes.state import Evidence, Grade, Sentence, State, Support

CALL_S = 0.2
CANDIDATES = 10
STRAIGHT, SECOND, THIRD, WEB = 15, 10, 3, 2
CONCURRENT = 16
ROUNDS_STRAIGHT = 3
"""Grade, generate, check: the calls of a straight run, one after another."""

OVER_CALLS, P50_S, P95_S, MEAN_CALLS, OVER_ONE = 1.12, 0.8, 2.2, 6.0, 1.5


@dataclass(frozen=True)
class Planned:
    """A question whose answer is found in loop `loop`; None: on the web alone."""

    key: str
    loop: int | None

    @property
    def text(self) -> str:
        return f"What does item {self.key} cost?"


def planned() -> list[Planned]:
    loops = [0] * STRAIGHT + [1] * SECOND + [2] * THIRD + [None] * WEB
    return [Planned(f"{chr(97 + n % 26)}{n}x", loop) for n, loop in enumerate(loops)]


@dataclass
class Progress:
    """Of one run: its question, how often it searched, here and on the web."""

    question: Planned
    loop: int = 0
    web: int = 0


RUN: ContextVar[Progress] = ContextVar("run")


class Scripted:
    """Search, reranker, scorer and web of the run that goes on. What a search finds depends on how
    often it was asked."""

    missing = ""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    async def search(self, *args: Any, **more: Any) -> list[Candidate]:
        run = RUN.get()
        found = [self._candidate(run, n) for n in range(CANDIDATES)]
        run.loop += 1
        return found

    async def text(self, scope: Scope, base: str, document: str, revision: str) -> str | None:
        return self._texts.get(document)

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        return list(candidates)

    async def grade(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        among: Sequence[Candidate],
        upper: float | None,
        lower: float | None,
    ) -> GradedPassages:
        return GradedPassages([Grade("ambiguous", 0.3) for _ in candidates])

    async def generate(
        self, question: str, evidence: Sequence[Evidence], *, limit: int, rejected: Sequence[str]
    ) -> Draft:
        raise RuntimeError("the chat model writes here")

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        raise RuntimeError("the chat model checks here")

    def _candidate(self, run: Progress, n: int) -> Candidate:
        answers = (run.loop, n) == (run.question.loop, 4)
        text = _passage(run.question.key if answers else f"{n}other")
        name = f"{run.question.key}-{run.loop}-{n}"
        self._texts[name] = text
        chunk = Chunk(name, name, "r", 0, text, 0, len(text), f"List {name}", heading="Prices")
        return Candidate(chunk, {"fused": 1 - n / CANDIDATES}, [])


class Web:
    missing = ""

    async def search(self, query: str) -> list[WebResult]:
        run = RUN.get()
        run.web += 1
        return [WebResult("https://example.org/prices", "Prices", _passage(run.question.key))]


def _passage(key: str) -> str:
    return (
        f"Whoever orders item {key} pays 12 euros for it, and nothing else. " + "More text. " * 60
    )


def script(body: dict[str, Any]) -> Any:
    """What a model that reads well says: by the item that is asked for."""
    from tests.fake_chat_wire import Reply

    asked = body["messages"][-1]["content"]
    (*_, key) = re.findall(r"item (\w+)", asked)
    form = (body.get("response_format") or {}).get("json_schema", {}).get("name")
    numbers = [
        int(n) for n, text in re.findall(r'<passage n="(\d+)">(.*?)</', asked) if f" {key} " in text
    ]
    if form == "Answering":
        return json.dumps({"answering": numbers})
    if form == "Supported":
        return json.dumps({"supported": [1]})
    if body.get("logprobs"):
        yes = 0.95 if f"item {key} pays" in asked else 0.05
        return Reply("Yes" if yes > 0.5 else "No", {"Yes": yes, "No": 1 - yes})
    if body["messages"][0]["content"].startswith("You write a search query"):
        return f"price of item {key}"
    return f"The price of item {key} is 12 euros. [{numbers[0]}]" if numbers else "NO ANSWER"


@contextmanager
def model_server() -> Iterator[str]:
    """The base_url of the model, in a process of its own."""
    command = [sys.executable, "-m", "eval.benchmarks.chat_latency", "--serve"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield (process.stdout.readline() if process.stdout else "").strip()
    finally:
        process.kill()
        process.wait()


def serve() -> None:
    from tests.fake_chat import fake_chat

    with fake_chat() as chat:
        chat.latency_s, chat.script = CALL_S, script
        print(chat.url, flush=True)
        threading.Event().wait()


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
        scripted = Services(ports, ports, ports, Web(), ports, ports)
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
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve:
        serve()
    with model_server() as url, tempfile.TemporaryDirectory() as folder:
        measured = asyncio.run(measure(url, given.rounds, Path(folder)))
    parts = {
        "chat model": f"scripted, {CALL_S:g} s a call",
        "questions": f"{len(planned())} x {given.rounds}, {STRAIGHT} of them straight",
    }
    finish("chat_latency", measured, parts, as_json=given.json)


if __name__ == "__main__":
    main()
