"""Tiny doubles of the ports: an embedder of hashed words, and scripted steps of a run."""

import asyncio
import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graph.run_log import RUNS, RunLog
from ingest.adapters.sqlite_database import MEMORY, SqliteDatabase
from ingest.batching import MicroBatcher
from ingest.documents import Candidate, Chunk, quote_sha256
from ingest.filters import Filters
from ingest.passage_vectors import PassageVectors
from ingest.ports import Encoded, Role, Vector
from ingest.scope import Scope
from nodes.findings import Citation, Evidence, Grade, Rejected, Sentence, Support
from nodes.ports import Draft, GradedPassages, Sources, WebResult

WORD = re.compile(r"\w+")


@lru_cache(maxsize=10_000)
def word_vector(word: str) -> Vector:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
    vector = np.random.default_rng(seed).normal(size=384).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


class HashingEmbedder:
    """A vector for each word from its hash; the mean of them for a text. Remembers its batches."""

    dimension = 384
    max_tokens = 256

    def __init__(self, *, fingerprint: str = "hashing", delay_s: float = 0.0) -> None:
        self.fingerprint = fingerprint
        self.batches: list[list[str]] = []
        self._delay_s = delay_s
        self._embed_all = MicroBatcher[str, Vector](self._embed, limit=64, name="fake-embed")
        self._encode_all = MicroBatcher[str, Encoded](self._encode, limit=64, name="fake-encode")

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(WORD.findall(text)) for text in texts]

    async def load(self) -> None:
        """Nothing to read."""

    async def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Vector:
        rows = await self._embed_all(texts)
        return np.asarray(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    async def encode(
        self, texts: Sequence[str], *, role: Role = "passage", bulk: bool = False
    ) -> list[Encoded]:
        return await self._encode_all(texts)

    def close(self) -> None:
        self._embed_all.close()
        self._encode_all.close()

    def _embed(self, texts: list[str]) -> list[Vector]:
        return [encoded.sentence for encoded in self._encode(texts)]

    def _encode(self, texts: list[str]) -> list[Encoded]:
        self.batches.append(texts)
        time.sleep(self._delay_s * len(texts))
        return [_hashed(text) for text in texts]


def _hashed(text: str) -> Encoded:
    matches = list(WORD.finditer(text))
    vectors = [word_vector(match.group().lower()) for match in matches]
    tokens = np.asarray(vectors, dtype=np.float32).reshape(len(matches), 384)
    mean = tokens.mean(axis=0) if len(matches) else word_vector("")
    offsets = np.asarray([match.span() for match in matches], dtype=np.int32).reshape(-1, 2)
    return Encoded(mean / max(float(np.linalg.norm(mean)), 1e-12), tokens, offsets)


def a_run_log(path: Path | str = MEMORY, *, mask: bool = True) -> RunLog:
    """In a file, or in memory alone."""
    return RunLog(SqliteDatabase(path, RUNS), mask=mask)


class Killed(BaseException):
    """What no part catches, as the end of a process."""


class NoVectors:
    """A PassageVectorStore that keeps nothing."""

    keeps = False

    async def put(self, chunks: Any, vectors: Any) -> None: ...

    async def get(self, chunk_ids: Sequence[str]) -> dict[str, PassageVectors]:
        return {}

    async def count(self, tenant: str, knowledge_base: str) -> int:
        return 0

    async def delete_revision(self, *place: str) -> None: ...

    async def delete_knowledge_base(self, *place: str) -> None: ...

    def close(self) -> None: ...


def a_chunk(name: str, text: str = "", **more: Any) -> Chunk:
    """A chunk that is its whole document, named `name`."""
    text = text or f"Passage {name} says something of its own."
    fields = {"document_id": f"doc-{name}", "revision": "r1", "ordinal": 0, "title": name} | more
    return Chunk(chunk_id=name, text=text, start=0, end=len(text), **fields)


def a_candidate(name: str, text: str = "", url: str | None = None, **scores: float) -> Candidate:
    return Candidate(a_chunk(name, text), scores or {"fused": 0.5}, [], url)


def a_citation(chunk: Chunk, n: int = 1, **changed: Any) -> Citation:
    """The whole chunk, quoted."""
    fields = {
        "n": n,
        "kind": "document",
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "revision": chunk.revision,
        "title": chunk.title,
        "page": None,
        "heading": chunk.heading,
        "start": chunk.start,
        "end": chunk.end,
        "quote": chunk.text,
        "quote_sha256": quote_sha256(chunk.text),
    }
    return Citation(**(fields | changed))


class FakeIndex:
    """What each search finds, one entry for each call, the last for all later ones."""

    def __init__(self, *found: list[Candidate] | Exception) -> None:
        self.found = found
        self.searches: list[dict[str, Any]] = []
        self.state = "v1"
        self.texts: dict[tuple[str, str], str] = {
            (c.chunk.document_id, c.chunk.revision): c.chunk.text
            for result in found
            if isinstance(result, list)
            for c in result
        }

    async def search(
        self,
        scope: Scope,
        knowledge_base: str,
        question: str,
        queries: Sequence[str],
        *,
        limit: int,
        filters: Filters,
        fusion: str = "blend",
        exact: bool = False,
        merge: str = "best",
        made_up: Sequence[str] = (),
    ) -> list[Candidate]:
        call = {"question": question, "queries": list(queries), "filters": filters, "limit": limit}
        self.searches.append(call | {"scope": scope})
        found = self.found[min(len(self.searches), len(self.found)) - 1]
        if isinstance(found, Exception):
            raise found
        return found

    async def version(self, scope: Scope, base: str) -> str:
        return self.state

    async def text(self, scope: Scope, base: str, document: str, revision: str) -> str | None:
        return self.texts.get((document, revision))


class FakeReranker:
    """Keeps the order; `error` is raised."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.questions: list[str] = []

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        self.questions.append(question)
        if self.error:
            raise self.error
        return list(candidates)


class FakeGrader:
    """Verdicts by chunk id; what is not named is incorrect. A callable gives the whole answer."""

    def __init__(self, verdicts: Mapping[str, str] | Callable[..., Any] | None = None) -> None:
        self.verdicts = {} if verdicts is None else verdicts
        self.questions: list[str] = []

    async def grade(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        among: Sequence[Candidate],
        upper: float | None,
        lower: float | None,
    ) -> GradedPassages:
        self.questions.append(question)
        if callable(self.verdicts):
            answer: GradedPassages = self.verdicts(candidates)
            return answer
        named = [self.verdicts.get(c.chunk.chunk_id, "incorrect") for c in candidates]
        return GradedPassages([a_grade(verdict) for verdict in named])


def a_grade(verdict: str) -> Grade:
    probability = {"correct": 0.9, "ambiguous": 0.5, "incorrect": 0.1}[verdict]
    return Grade(verdict, probability)  # type: ignore[arg-type]


class Sure:
    """The same confidence in every draft."""

    def __init__(self, probability: float = 0.9) -> None:
        self.value = probability

    def probability(self, signs: Mapping[str, float]) -> float:
        return self.value


class FakeWeb:
    """`results` or the error to raise; `missing` says why it cannot run."""

    def __init__(self, results: Any = (), *, missing: str = "") -> None:
        self.results = results
        self.missing = missing
        self.sent: list[str] = []

    async def search(self, query: str) -> list[WebResult]:
        self.sent.append(query)
        if isinstance(self.results, Exception):
            raise self.results
        return list(self.results)


class QuotingGenerator:
    """Quotes each passage of the evidence whole, but what was rejected or is kept."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[tuple[str, list[str]]] = []
        self.repairs: list[tuple[list[Rejected], list[Sentence]]] = []

    async def generate(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        limit: int,
        rejected: Sequence[Rejected] = (),
        kept: Sequence[Sentence] = (),
    ) -> Draft:
        self.asked.append((question, [one.sentence for one in rejected]))
        self.repairs.append((list(rejected), list(kept)))
        if self.error:
            raise self.error
        told = {one.sentence for one in rejected} | {one.text for one in kept}
        quoted = [e.candidate for e in evidence if e.candidate.chunk.text not in told]
        return Draft([_quoted(n, c) for n, c in enumerate(quoted[:limit], start=1)])


def _quoted(n: int, candidate: Candidate) -> Sentence:
    kind = "web" if candidate.url else "document"
    place = {"url": candidate.url, "knowledge_base": candidate.knowledge_base}
    citation = a_citation(candidate.chunk, n, kind=kind, **place)
    return Sentence(candidate.chunk.text, [citation])


class FakeChecker:
    """Supports every sentence but those that hold one of `unsupported`; `error` is raised."""

    def __init__(self, *unsupported: str, error: Exception | None = None) -> None:
        self.unsupported = unsupported
        self.error = error

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return [self._support(sentence.text) for sentence in sentences]

    def _support(self, text: str) -> Support:
        failed = any(part in text for part in self.unsupported)
        if failed:
            return Support(text, "unsupported", 0.0, "not supported")
        return Support(text, "supported", 1.0)


class Staged(FakeChecker):
    """Settles what holds none of `open_parts`; `check` judges the others after `seconds`."""

    def __init__(self, *open_parts: str, fails: Sequence[str] = (), **more: Any) -> None:
        super().__init__(*fails, error=more.get("error"))
        self.open_parts = open_parts
        self.seconds = more.get("seconds", 0.0)
        self.checked: list[list[str]] = []

    async def settled(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support | None]:
        return [
            None if any(part in s.text for part in self.open_parts) else self._support(s.text)
            for s in sentences
        ]

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        self.checked.append([s.text for s in sentences])
        await asyncio.sleep(self.seconds)
        return await super().check(question, sentences, sources)
