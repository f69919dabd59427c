"""What the state machine itself costs a run: wall time less the time inside its ports.

python -m eval.benchmarks.overhead [--json] [--runs 60]
"""

import argparse
import asyncio
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.benchmarks.report import figure, finish
from graph.adapters.checkpoints import plain_serializer
from graph.builder import build, recursion_limit
from graph.runner import Ask, fresh_state
from graph.services import Services
from ingest.documents import Candidate, Chunk, quote_sha256
from ingest.scope import Scope
from nodes.context import Context
from nodes.findings import Citation, Evidence, Grade, Sentence, Support
from nodes.ports import Draft, GradedPassages, Sources, WebResult

CANDIDATES = 50
CHARACTERS = 800
STRAIGHT_MS, LOOPS_MS = 15.0, 40.0
QUESTION = "How long after the return of a defective gateway is the refund paid out?"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""No figures, or the passages would be found to disagree."""
WORDS = "gateway refund warehouse policy sensor invoice support return within days of the".split()


class Ports:
    """Every port of a run in one: it notes the time spent in it. Correct from loop `correct_in`."""

    missing = ""

    def __init__(self, correct_in: int) -> None:
        self._correct_in = correct_in
        self._found = [[_candidate(loop, n) for n in range(CANDIDATES)] for loop in range(4)]
        self.inside = 0.0
        self.loops = 0

    def begin(self) -> None:
        self.inside, self.loops = 0.0, 0

    async def search(self, *args: Any, **more: Any) -> Any:
        clock = time.perf_counter()
        await asyncio.sleep(0)
        found = list(self._found[self.loops])
        self.loops += 1
        self.inside += time.perf_counter() - clock
        return found

    async def version(self, scope: Scope, base: str) -> str:
        return "1"

    async def text(self, scope: Scope, base: str, document: str, revision: str) -> str | None:
        clock = time.perf_counter()
        loop, n = document.split("-")[1:]
        text = self._found[int(loop)][int(n)].chunk.text
        self.inside += time.perf_counter() - clock
        return text

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        clock = time.perf_counter()
        await asyncio.sleep(0)
        ordered = list(candidates)
        self.inside += time.perf_counter() - clock
        return ordered

    async def grade(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        among: Sequence[Candidate],
        upper: float | None,
        lower: float | None,
    ) -> GradedPassages:
        clock = time.perf_counter()
        await asyncio.sleep(0)
        correct = self.loops > self._correct_in
        signs = {f"sign_{n}": 0.5 for n in range(18)}
        grade = Grade("correct", 0.9, signs) if correct else Grade("incorrect", 0.05, signs)
        graded = GradedPassages([grade for _ in candidates])
        self.inside += time.perf_counter() - clock
        return graded

    async def generate(
        self, question: str, evidence: Sequence[Evidence], *, limit: int, **repair: object
    ) -> Draft:
        clock = time.perf_counter()
        draft = Draft([_quoted(n, e.candidate.chunk) for n, e in enumerate(evidence[:limit], 1)])
        self.inside += time.perf_counter() - clock
        return draft

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        clock = time.perf_counter()
        supports = [Support(sentence.text, "supported", 1.0) for sentence in sentences]
        self.inside += time.perf_counter() - clock
        return supports


class NoWeb:
    missing = "no web in this benchmark"

    async def search(self, query: str) -> list[WebResult]:
        return []


async def overheads(rewrites: int, runs: int, folder: Path) -> list[float]:
    """Milliseconds for each run, checkpoints to SQLite included, after five to warm up."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    ports = Ports(correct_in=rewrites)
    services = Services(ports, ports, ports, NoWeb(), ports, ports)
    async with AsyncSqliteSaver.from_conn_string(str(folder / f"{rewrites}.sqlite")) as saver:
        saver.serde = plain_serializer()
        graph = build(services, saver)
        return [await _overhead(graph, ports, rewrites) for _ in range(runs + 5)][5:]


async def _overhead(graph: Any, ports: Ports, rewrites: int) -> float:
    ports.begin()
    clock = time.perf_counter()
    state: Any = None
    async for mode, item in graph.astream(
        fresh_state(Ask(QUESTION, "bench")),
        context=Context(),
        stream_mode=["custom", "values"],
        config={
            "recursion_limit": recursion_limit(graph, 3),
            "configurable": {"thread_id": uuid.uuid4().hex},
        },
        durability="exit",
    ):
        if mode == "values":
            state = item
    wall = time.perf_counter() - clock
    done = state if isinstance(state, dict) else vars(state)
    if done["outcome"] != "answered" or done["spent"].rewrites != rewrites:
        raise RuntimeError(f"not the run that was meant: {done['outcome']}, {done['spent']}")
    return 1000 * (wall - ports.inside)


def _candidate(loop: int, n: int) -> Candidate:
    words = [
        f"{WORDS[(n + i) % len(WORDS)]}{'' if i % 3 else LETTERS[(i + n) % 26]}"
        for i in range(CHARACTERS)
    ]
    sentences = (" ".join(words[i : i + 18]).capitalize() for i in range(0, len(words), 18))
    text = ". ".join(sentences)[: CHARACTERS - 1] + "."
    chunk = Chunk(
        chunk_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{loop}/{n}")),
        document_id=f"doc-{loop}-{n}",
        revision="r",
        ordinal=0,
        text=text,
        start=0,
        end=len(text),
        title=f"Policy {n}",
        heading="Refunds",
        metadata={"source": f"{n}.md", "status": "current", "language": "en"},
    )
    order = 1 - n / CANDIDATES
    scores = {"dense": 0.6 * order, "bm25": 9 * order, "fused": order, "rerank": order}
    return Candidate(chunk, scores, [QUESTION])


def _quoted(n: int, chunk: Chunk) -> Sentence:
    quote = chunk.text[: chunk.text.index(".") + 1]
    citation = Citation(
        n=n,
        kind="document",
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        revision=chunk.revision,
        title=chunk.title,
        page=None,
        heading=chunk.heading,
        start=0,
        end=len(quote),
        quote=quote,
        quote_sha256=quote_sha256(quote),
    )
    return Sentence(quote, [citation])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--runs", type=int, default=60)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        straight = asyncio.run(overheads(0, given.runs, Path(folder)))
        loops = asyncio.run(overheads(3, given.runs, Path(folder)))
    figures = [
        figure("graph overhead, straight", straight, "ms", at_most=STRAIGHT_MS),
        figure("graph overhead, three loops", loops, "ms", at_most=LOOPS_MS),
    ]
    parts = {"state": f"{CANDIDATES} candidates of {CHARACTERS} characters", "saver": "SQLite"}
    finish("overhead", figures, parts, as_json=given.json)


if __name__ == "__main__":
    main()
