"""A service whose corpus is real and small, and whose runs are scripted by the question."""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import cast

import numpy as np

from api.settings import Settings
from graph.adapters.grounding import QuoteChecker
from graph.answer import Answer
from graph.builder import Graph
from graph.compose import Service
from graph.run_log import RunLog
from graph.runner import Ask, Event, Runner
from graph.services import Services
from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.memory import MemoryStore
from ingest.adapters.record_rows import RECORDS
from ingest.adapters.sql_records import SqlRecords
from ingest.adapters.sqlite_database import SqliteDatabase
from ingest.compose import Corpus
from ingest.data_folder import DataFolder, Holder
from ingest.documents import Candidate
from ingest.errors import InvalidRequest, NotFound, UnknownKnowledgeBase
from ingest.index import Index
from ingest.live import LiveBases
from ingest.ports import Encoded, Role, Vector
from ingest.scope import Scope
from ingest.settings import SplitSettings
from ingest.writer import Writer
from nodes.state import Outcome, Reason
from tests.fakes import NoVectors, a_run_log

ENTRY = {
    "seq": 1,
    "node": "plan_queries",
    "attempt": 1,
    "started_at": "2026-11-30T00:00:00.000+00:00",
    "ms": 1.0,
    "status": "ok",
    "summary": {"intent": "search", "queries": ["q"]},
}


class FakeEmbedder:
    """Four numbers from a hash; the same text has the same vector."""

    fingerprint = "fake"
    dimension = 384
    max_tokens = 256

    def __init__(self, *, loading_s: float = 0.0) -> None:
        self._loading_s = loading_s

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    async def load(self) -> None:
        await asyncio.sleep(self._loading_s)

    async def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Vector:
        return np.stack([_vector(text) for text in texts]) if texts else np.zeros((0, 384), "f4")

    async def encode(
        self, texts: Sequence[str], *, role: Role = "passage", bulk: bool = False
    ) -> list[Encoded]:
        none = np.zeros((0, 2), np.int32)
        return [Encoded(_vector(t), np.zeros((0, 384), np.float32), none) for t in texts]

    def close(self) -> None: ...


class FakeReranker:
    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        return list(candidates)


class FakeRunner:
    """`slow` waits until it is cancelled, `brief` for a second, `crash` fails, `refuse` is refused;
    others answer."""

    def __init__(self, runs: RunLog) -> None:
        self.asked: list[Ask] = []
        self.waiting = asyncio.Event()
        self.cancelled = threading.Event()
        self.threads = {"known"}
        self._runs = runs

    async def stream(self, ask: Ask) -> AsyncIterator[Event]:
        self.asked.append(ask)
        if ask.knowledge_base == "nope":
            raise UnknownKnowledgeBase("no knowledge base 'nope'")
        if "rewrites" in ask.options and ask.options["rewrites"] > 3:
            raise InvalidRequest("option rewrites: at most 3 here; it may only be tightened")
        run_id = f"run-{len(self.asked)}"
        yield Event(1, "run", {"run_id": run_id, "question": ask.question})
        yield Event(2, "node", {"entry": ENTRY})
        if "slow" in ask.question:
            self.waiting.set()
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        if "brief" in ask.question:
            await asyncio.sleep(1)
        if "crash" in ask.question:
            raise ValueError("secret detail of the inside")
        refused = "refuse" in ask.question
        answer = an_answer(run_id, ask.question, refused=refused)
        await self._runs.add(ask.scope, ask.knowledge_base, answer)
        if not refused:
            yield Event(3, "answer.delta", {"text": answer.answer})
        yield Event(4, "answer", answer.as_json())

    async def delete_thread(self, scope: Scope, thread_id: str) -> None:
        if thread_id not in self.threads:
            raise NotFound("no such thread")
        self.threads.remove(thread_id)


def an_answer(run_id: str = "run-1", question: str = "q", *, refused: bool = False) -> Answer:
    outcome: Outcome = "refused" if refused else "answered"
    reason: Reason | None = "no_evidence" if refused else None
    return Answer(
        run_id=run_id,
        question=question,
        outcome=outcome,
        reason=reason,
        answer="I don't know." if refused else "Yes. [1]",
        citations=[],
        grounding={"supported": None if refused else True, "sentences": []},
        searched={
            "queries": [{"text": question, "technique": "original", "loop": 0, "embedded": ""}],
            "knowledge_bases": ["handbook"],
            "web": False,
            "web_sent": "",
            "candidates": 7,
            "graded": 5,
            "nearest": [],
            "best_grade": 0.25,
            "instruction_like": [],
        },
        degraded=[],
        budget={
            "rewrites": {"used": 0, "limit": 3},
            "chat_calls": {"used": 0, "limit": 20},
            "tokens": {"used": 0, "limit": 60_000},
            "deadline_s": 30.0,
            "usd": 0.0,
        },
        timings={"total_ms": 1.0, "nodes": {}},
        trace=[],
        versions={"index": "a", "pipeline": "1", "calibration": "b"},
    )


class FakeService:
    """Opens a service on a folder; keeps the runner for tests to look at."""

    def __init__(self, *, opening_s: float = 0.0, loading_s: float = 0.0) -> None:
        self.opening_s, self.loading_s = opening_s, loading_s
        self.runner: FakeRunner

    def __call__(
        self, settings: Settings, holder: Holder | None = None
    ) -> AbstractAsyncContextManager[Service]:
        return self._open(settings, holder)

    @asynccontextmanager
    async def _open(self, settings: Settings, holder: Holder | None) -> AsyncIterator[Service]:
        folder = DataFolder(settings.data_dir, holder)
        await asyncio.sleep(self.opening_s)
        corpus = small_corpus(folder, FakeEmbedder(loading_s=self.loading_s))
        runs = a_run_log()
        self.runner = FakeRunner(runs)
        services = cast(Services, _Ports(FakeReranker()))
        try:
            yield Service(
                cast(Runner, self.runner), cast(Graph, None), corpus, runs, services, settings
            )
        finally:
            runs.close()
            folder.close()


class _Ports:
    def __init__(self, reranker: FakeReranker) -> None:
        self.reranker = reranker
        self.checker = QuoteChecker()


def small_corpus(folder: DataFolder, embedder: FakeEmbedder) -> Corpus:
    records = SqlRecords(SqliteDatabase(":memory:", RECORDS))
    sparse, store = Bm25Encoder(), MemoryStore()
    bases = LiveBases(records, "fake", embedder.fingerprint)
    index = Index(embedder=embedder, sparse=sparse, store=store, bases=bases)
    writer = Writer(
        embedder=embedder,
        sparse=sparse,
        store=store,
        vectors=NoVectors(),
        records=records,
        bases=bases,
        split=SplitSettings(),
        pipeline="fake",
    )
    return Corpus(folder, index, writer, bases, embedder, NoVectors())


def _vector(text: str) -> Vector:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    vector = np.random.default_rng(seed).normal(size=384).astype(np.float32)
    return cast(Vector, vector / np.linalg.norm(vector))
