"""How long an answer takes over HTTP, and whether the server breathes under load.

A real server on a data folder of its own, the example handbook in it. Every question is asked
once to warm up, then once more and timed; then eight clients ask at once while /livez is polled.

python -m eval.benchmarks.ask_latency [--json] [--questions FILE] [--limit 100] [--seconds 20]
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from eval.benchmarks.report import Figure, figure, finish
from eval.benchmarks.served import BASE, questions_from, server
from ingest.adapters.embedders import open_embedder
from ingest.settings import IndexSettings

STRAIGHT_S, CORRECTED_S = 0.7, 2.0
LIVEZ_MS, LIVEZ_EVERY_S = 100.0, 0.02
CLIENTS, CONCURRENT = 8, 16


async def one_by_one(client: httpx.AsyncClient, questions: Sequence[str]) -> list[Figure]:
    """Seconds as a client sees them, by whether the run rewrote its query."""
    straight: list[float] = []
    corrected: list[float] = []
    for question in questions:
        await _ask(client, question)
    for question in questions:
        clock = time.perf_counter()
        answer = await _ask(client, question)
        seconds = time.perf_counter() - clock
        rewrites = answer["budget"]["rewrites"]["used"]
        (corrected if rewrites else straight).append(seconds)
    if not straight or not corrected:
        raise RuntimeError(f"{len(straight)} straight runs and {len(corrected)} corrected ones")
    return [
        figure("POST /v1/ask, straight", straight, "s", at_most=STRAIGHT_S),
        figure("POST /v1/ask, corrected", corrected, "s", at_most=CORRECTED_S),
    ]


async def under_load(
    client: httpx.AsyncClient, questions: Sequence[str], seconds: float
) -> list[Figure]:
    """The 99th percentile of /livez while CLIENTS ask without a pause."""
    end = time.perf_counter() + seconds
    waiting = cycle(questions)
    asked: list[float] = []

    async def asks() -> None:
        while time.perf_counter() < end:
            clock = time.perf_counter()
            await _ask(client, next(waiting))
            asked.append(time.perf_counter() - clock)

    polled: list[float] = []

    async def polls() -> None:
        async with httpx.AsyncClient(base_url=client.base_url, timeout=30) as alone:
            while time.perf_counter() < end:
                clock = time.perf_counter()
                (await alone.get("/livez")).raise_for_status()
                polled.append(1000 * (time.perf_counter() - clock))
                await asyncio.sleep(LIVEZ_EVERY_S)

    started = time.perf_counter()
    await asyncio.gather(polls(), *(asks() for _ in range(CLIENTS)))
    rate = len(asked) / (time.perf_counter() - started)
    p99 = round(float(np.percentile(polled, 99)), 2)
    p10, p90 = (round(float(p), 2) for p in np.percentile(polled, [10, 90]))
    return [
        Figure("/livez p99 under load", p99, "ms", len(polled), p10, p90, at_most=LIVEZ_MS),
        figure(f"POST /v1/ask, {CLIENTS} clients", asked, "s"),
        Figure("questions answered under load", round(rate, 2), "per s", len(asked), rate, rate),
    ]


async def micro_batching(questions: Sequence[str]) -> list[Figure]:
    """Embedded questions per second, CONCURRENT calls at once over one by one; five turns."""
    embedder = open_embedder(IndexSettings().embedder)
    await embedder.load()
    alone: list[float] = []
    together: list[float] = []
    for turn in range(6):
        clock = time.perf_counter()
        for question in questions:  # worded anew each time: an embedder keeps what it was asked
            await embedder.embed([f"{question} {turn}"], role="question")
        single = len(questions) / (time.perf_counter() - clock)
        clock = time.perf_counter()
        waiting = iter(questions)

        async def calls(waiting: Iterator[str], turn: int) -> None:
            for question in waiting:
                await embedder.embed([f"{question} {turn} at once"], role="question")

        await asyncio.gather(*(calls(waiting, turn) for _ in range(CONCURRENT)))
        batched = len(questions) / (time.perf_counter() - clock)
        if turn:  # the first turn warms up
            alone.append(single)
            together.append(batched)
    embedder.close()
    ratios = [b / a for a, b in zip(alone, together, strict=True)]
    return [
        figure("questions embedded one by one", alone, "per s"),
        figure(f"questions embedded by {CONCURRENT} callers", together, "per s"),
        figure(f"micro-batching at {CONCURRENT} callers", ratios, "times"),
    ]


async def _ask(client: httpx.AsyncClient, question: str) -> dict[str, Any]:
    body = {"question": question, "knowledge_base": BASE}
    response = await client.post("/v1/ask", json=body)
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    if answer["degraded"]:
        raise RuntimeError(f"a degraded run is no measurement: {answer['degraded'][0]}")
    return answer


async def measure(address: str, questions: Sequence[str], seconds: float) -> list[Figure]:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        figures = await one_by_one(client, questions)
        return figures + await under_load(client, questions, seconds)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument(
        "--questions", type=Path, default=Path("tests/data/handbook_questions.jsonl")
    )
    options.add_argument("--documents", type=Path, default=Path("examples/handbook"))
    options.add_argument("--calibration", type=Path, help="Another one than the shipped.")
    options.add_argument("--limit", type=int, default=100)
    options.add_argument("--seconds", type=float, default=20.0)
    given = options.parse_args()
    questions = questions_from(given.questions, given.limit)
    with tempfile.TemporaryDirectory() as folder:
        # Every question is asked before, to warm up: with the cache its answer would only be read.
        started = server(Path(folder), given.documents, calibration=given.calibration, cache=False)
        with started as served:
            figures = asyncio.run(measure(served.address, questions, given.seconds))
    figures += asyncio.run(micro_batching(questions))
    parts = {
        "questions": len(questions),
        "documents": given.documents.name,
        "calibration": given.calibration.name if given.calibration else "shipped",
        "chat model": "none",
    }
    finish("ask_latency", figures, parts, as_json=given.json)


if __name__ == "__main__":
    main()
