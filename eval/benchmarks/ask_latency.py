"""How long an answer takes over HTTP, and whether the server breathes under load.

A real server on a data folder of its own, the example handbook in it. Every question is asked
once to warm up, then once more and timed; then eight clients ask at once while /livez is polled.

python -m eval.benchmarks.ask_latency [--json] [--questions FILE] [--limit 100] [--seconds 20]
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from eval.benchmarks.report import Figure, figure, finish
from ingest.adapters.sentence_transformer import SentenceTransformerEmbedder

BASE = "handbook"
FEWEST = 60
STRAIGHT_S, CORRECTED_S = 0.7, 2.0
LIVEZ_MS, LIVEZ_EVERY_S = 100.0, 0.02
CLIENTS, CONCURRENT = 8, 16
START_S = 120.0


def questions_from(file: Path, limit: int) -> list[str]:
    """Spread over the file. Raises SystemExit for fewer than FEWEST."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    every = list(dict.fromkeys(str(json.loads(line)["question"]) for line in lines))
    if min(len(every), limit) < FEWEST:
        raise SystemExit(f"{FEWEST} distinct questions are needed; {file} has {len(every)}")
    chosen = np.linspace(0, len(every) - 1, min(limit, len(every))).astype(int)
    return [every[n] for n in chosen]


@contextmanager
def server(folder: Path, documents: Path, calibration: Path | None) -> Iterator[str]:
    """The address of `crag serve` once it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    crag = [sys.executable, "-m", "crag"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CRAG_")}
    # Every question is asked before, to warm up: with the cache its answer would only be read.
    environment = {**kept, "CRAG_DATA_DIR": str(folder / "data"), "CRAG_CACHE__ENABLED": "false"}
    if calibration is not None:
        environment["CRAG_GRADE__CALIBRATION"] = str(calibration.resolve())
    ingest = [*crag, "ingest", str(documents), "--kb", BASE]
    subprocess.run(ingest, env=environment, stdout=sys.stderr, check=True)
    log = (folder / "serve.log").open("w")
    process = subprocess.Popen(
        [*crag, "serve", "--port", str(port)], env=environment, stdout=log, stderr=log
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_ready(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def _wait_until_ready(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError("the server did not become ready")


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
    embedder = SentenceTransformerEmbedder()
    await embedder.load()
    alone: list[float] = []
    together: list[float] = []
    for turn in range(6):
        clock = time.perf_counter()
        for question in questions:
            await embedder.embed([question])
        single = len(questions) / (time.perf_counter() - clock)
        clock = time.perf_counter()
        waiting = iter(questions)

        async def calls(waiting: Iterator[str]) -> None:
            for question in waiting:
                await embedder.embed([question])

        await asyncio.gather(*(calls(waiting) for _ in range(CONCURRENT)))
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
        started = server(Path(folder), given.documents, given.calibration)
        with started as address:
            figures = asyncio.run(measure(address, questions, given.seconds))
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
