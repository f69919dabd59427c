"""The scripted world of chat_latency: its questions, passages and ports, and the chat model that a
server of the tests plays in a process of its own."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ingest.documents import Candidate, Chunk
from ingest.scope import Scope
from nodes.findings import Evidence, Grade
from nodes.ports import Draft, GradedPassages, WebResult

CALL_S = 0.2


CANDIDATES = 10


STRAIGHT, SECOND, THIRD, WEB = 15, 10, 3, 2


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

    async def version(self, scope: Any, base: str) -> str:
        return "1"

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
        self, question: str, evidence: Sequence[Evidence], *, limit: int, **repair: object
    ) -> Draft:
        raise RuntimeError("the chat model writes here")

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
        int(n)
        for n, text in re.findall(r'<passage[^>]*? n="(\d+)">(.*?)</', asked)
        if f" {key} " in text
    ]
    if form == "Answering":
        return json.dumps(
            {"answering": numbers, "query": "" if numbers else f"price of item {key}"}
        )
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
    command = [sys.executable, "-m", "eval.benchmarks.chat_world"]
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


if __name__ == "__main__":
    serve()
