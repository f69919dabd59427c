"""A process that ends while a batch is under way keeps its exit code: nothing aborts it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

LEAVES_TORCH_AT_WORK = """
import asyncio, sys
from ingest.adapters.embedders import open_embedder
from ingest.settings import IndexSettings

async def main():
    embedder = open_embedder(IndexSettings().embedder)
    await embedder.load()
    await embedder.encode(["warm"])
    texts = ["A long text about refunds and what they are for. " * 20] * 8
    calls = [asyncio.create_task(embedder.encode(texts)) for _ in range(3)]
    await asyncio.sleep(0.05)
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    print("cancelled:", sum(call.cancelled() for call in calls))

asyncio.run(main())
sys.exit(2)
"""

LEAVES_A_BATCH_AT_WORK = """
import asyncio, sys, threading, time
from ingest.batching import MicroBatcher

begun = threading.Event()

def work(items):
    begun.set()
    time.sleep(0.2)
    print("worked on", items, flush=True)
    return items

async def main():
    batcher = MicroBatcher(work, limit=4, name="test")
    calls = [asyncio.create_task(batcher([1]))]
    await asyncio.to_thread(begun.wait, 10)
    calls += [asyncio.create_task(batcher([n])) for n in (2, 3)]
    await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)

asyncio.run(main())
sys.exit(2)
"""


def run(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
    )


def test_an_exit_while_the_model_is_at_work_keeps_its_code() -> None:
    """A thread that the interpreter stops inside torch ends the process with SIGABRT."""
    ended = run(LEAVES_TORCH_AT_WORK)
    assert "terminate called" not in ended.stderr
    assert (ended.returncode, ended.stdout) == (2, "cancelled: 3\n"), ended.stderr


def test_an_exit_waits_for_what_was_begun_and_for_nothing_that_was_cancelled() -> None:
    ended = run(LEAVES_A_BATCH_AT_WORK)
    assert (ended.returncode, ended.stdout) == (2, "worked on [1]\n"), ended.stderr
