"""Whether the server stays up, quick and small while many ask at once for a while.

A real server on a data folder of its own, the example handbook in it, with the shipped settings but
for the cache of answers, so that each question is a whole run (`--cache` keeps it). As many askers
as one key may have, 8 that run and 24 that wait, ask without a pause: first to warm up, then while
/livez is polled and the server's resident memory is read. Linux alone tells that.

python -m eval.benchmarks.soak [--json] [--askers 32] [--warm-up 30] [--seconds 60] [--cache]
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import httpx
import numpy as np

from eval.benchmarks.report import Figure, figure, finish
from eval.benchmarks.served import BASE, Served, questions_from, server

ASKERS, WARM_UP_S, SOAK_S = 32, 30.0, 60.0
LIVEZ_MS, LIVEZ_EVERY_S = 100.0, 0.02
STEADY, RSS_EVERY_S = 1.05, 0.25
"""What memory may grow by, between the first and the last fifth of the time."""
TIMEOUT_S = 90.0
MB = 2**20


@dataclass
class Seen:
    """What clients saw in one phase: seconds of each answer, milliseconds of /livez, (second,
    bytes) of the server's memory, and what was no answer."""

    answered: list[float] = field(default_factory=list)
    degraded: int = 0
    refused: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    livez: list[float] = field(default_factory=list)
    memory: list[tuple[float, int]] = field(default_factory=list)
    seconds: float = 0.0


async def phase(served: Served, questions: Sequence[str], askers: int, seconds: float) -> Seen:
    """All ask until the time is over, and wait for their last answers."""
    seen, started = Seen(), time.perf_counter()
    end = started + seconds
    waiting = cycle(questions)

    async def asks(client: httpx.AsyncClient) -> None:
        while time.perf_counter() < end:
            await ask(client, next(waiting), seen)

    async def polls(client: httpx.AsyncClient) -> None:
        while time.perf_counter() < end:
            clock = time.perf_counter()
            try:
                (await client.get("/livez")).raise_for_status()
            except httpx.HTTPError as error:
                seen.errors[f"/livez: {type(error).__name__}"] += 1
            seen.livez.append(1000 * (time.perf_counter() - clock))
            await asyncio.sleep(LIVEZ_EVERY_S)

    async def weighs() -> None:
        while time.perf_counter() < end:
            seen.memory.append((time.perf_counter() - started, resident_bytes(served.pid)))
            await asyncio.sleep(RSS_EVERY_S)

    limits = httpx.Limits(max_connections=askers, max_keepalive_connections=askers)
    async with (
        httpx.AsyncClient(base_url=served.address, timeout=TIMEOUT_S, limits=limits) as many,
        httpx.AsyncClient(base_url=served.address, timeout=TIMEOUT_S) as alone,
    ):
        await asyncio.gather(polls(alone), weighs(), *(asks(many) for _ in range(askers)))
    seen.seconds = time.perf_counter() - started
    return seen


async def ask(client: httpx.AsyncClient, question: str, seen: Seen) -> None:
    clock = time.perf_counter()
    try:
        response = await client.post("/v1/ask", json={"question": question, "knowledge_base": BASE})
    except httpx.HTTPError as error:
        seen.errors[type(error).__name__] += 1
        return
    if response.status_code == 200:
        seen.answered.append(time.perf_counter() - clock)
        seen.degraded += bool(response.json()["degraded"])
    elif response.status_code == 429:
        seen.refused += 1
        await asyncio.sleep(float(response.headers["retry-after"]))
    else:
        seen.errors[f"status {response.status_code}"] += 1


def resident_bytes(pid: int) -> int:
    """Raises OSError where the process is gone, or the system has no /proc."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (kib,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return 1024 * int(kib)


def figures_of(seen: Seen, askers: int) -> list[Figure]:
    """Raises ValueError where nothing was answered or measured."""
    answers = figure(f"POST /v1/ask, {askers} askers", seen.answered, "s")
    return [
        _one("errors", sum(seen.errors.values()), "", at_most=0),
        _one("refused by the limits, 429", seen.refused, ""),
        _one("degraded answers", seen.degraded, ""),
        answers,
        _one("POST /v1/ask, p95", float(np.percentile(seen.answered, 95)), "s"),
        _one("questions answered", len(seen.answered) / seen.seconds, "per s"),
        _one("/livez p99", float(np.percentile(seen.livez, 99)), "ms", at_most=LIVEZ_MS),
        *memory_figures(seen.memory),
    ]


def memory_figures(memory: Sequence[tuple[float, int]]) -> list[Figure]:
    """Medians of the first and last fifth, and the slope by least squares."""
    if len(memory) < 5:
        raise ValueError("memory was not read often enough")
    at, size = np.array(memory, dtype=float).T
    fifth = len(memory) // 5
    first, last = size[:fifth], size[-fifth:]
    slope = float(np.polyfit(at, size, 1)[0])
    return [
        figure("resident memory after the warm-up", list(first / MB), "MB"),
        figure("resident memory at the end", list(last / MB), "MB"),
        _one("memory, end over warm-up", np.median(last) / np.median(first), "times", STEADY),
        _one("memory, slope", 60 * slope / MB, "MB per min"),
    ]


def _one(name: str, value: float, unit: str, at_most: float | None = None) -> Figure:
    return figure(name, [value], unit, at_most=at_most)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument(
        "--questions", type=Path, default=Path("tests/data/handbook_questions.jsonl")
    )
    options.add_argument("--documents", type=Path, default=Path("examples/handbook"))
    options.add_argument("--askers", type=int, default=ASKERS)
    options.add_argument("--warm-up", type=float, default=WARM_UP_S)
    options.add_argument("--seconds", type=float, default=SOAK_S)
    options.add_argument("--cache", action="store_true", help="Keep answers, as the default does.")
    given = options.parse_args()
    questions = questions_from(given.questions, limit=1000)

    async def soak(served: Served) -> Seen:
        await phase(served, questions, given.askers, given.warm_up)
        return await phase(served, questions, given.askers, given.seconds)

    with (
        tempfile.TemporaryDirectory() as folder,
        server(Path(folder), given.documents, cache=given.cache) as served,
    ):
        seen = asyncio.run(soak(served))
    for kind, times in seen.errors.items():
        print(f"{times} x {kind}", file=sys.stderr)
    parts = {
        "questions": len(questions),
        "documents": given.documents.name,
        "askers": given.askers,
        "seconds": given.seconds,
        "answer cache": "on" if given.cache else "off",
        "chat model": "none",
    }
    finish("soak", figures_of(seen, given.askers), parts, as_json=given.json)


if __name__ == "__main__":
    main()
