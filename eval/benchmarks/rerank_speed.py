"""What reranking and searching cost: with stored token vectors, without them, and in a large base.

Passages are those of a folder of documents, ingested with the real model; the large bases are
drawn as in store_query, ten chunks to a document, and searched as a first loop does.

python -m eval.benchmarks.rerank_speed [--json] [--folder examples/handbook] [--questions 20]
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eval.benchmarks.bare_encoder import bare_encoder
from eval.benchmarks.report import Figure, figure, finish
from eval.benchmarks.store_query import BASE, BATCH, DIMENSION, Corpus, resampled_ratio
from graph.adapters.late_interaction import LateInteractionReranker
from graph.adapters.token_vectors import TokenVectors
from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.embedders import open_embedder
from ingest.adapters.qdrant_edge import QdrantEdgeStore
from ingest.adapters.record_rows import RECORDS
from ingest.adapters.sql_records import SqlRecords
from ingest.adapters.sql_vectors import VECTORS
from ingest.adapters.sqlite_database import SqliteDatabase
from ingest.compose import open_index
from ingest.documents import Candidate, document_id
from ingest.filters import Condition, Filters
from ingest.index import Index
from ingest.live import LiveBases
from ingest.passage_vectors import PassageVectorStore
from ingest.pipeline import ingest
from ingest.ports import DocumentRecord, Embedder, KnowledgeBase
from ingest.scope import LOCAL
from ingest.settings import IndexSettings

DEPTH = 30
SMALL, LARGE = 5_000, 50_000
WARM_MS = 120.0
COLD_RATIO = 1.2
GROWTH = 1.5
CURRENT = Filters([Condition("status", ["superseded", "draft"], exclude=True)])
"""What the first loop of every run leaves out."""


async def rerank_figures(folder: Path, questions: int, scratch: Path) -> list[Figure]:
    """Nothing is in memory: what is timed is a passage's first rerank since the start."""
    encode = bare_encoder()
    warm: list[float] = []
    cold: list[float] = []
    bare: list[float] = []
    async with open_index(IndexSettings(data_dir=scratch)) as corpus:
        await corpus.writer.create_knowledge_base(LOCAL, BASE)
        await ingest(
            folder, scope=LOCAL, knowledge_base=BASE, index=corpus.index, writer=corpus.writer
        )
        chunks = await corpus.vectors.count(LOCAL.tenant, BASE)
        titles = [d.title for d in await corpus.index.documents(LOCAL, BASE)]
        for title in [*titles, *titles][: questions + 1]:
            found = await corpus.index.search(
                LOCAL, BASE, title, [title], limit=DEPTH, filters=Filters()
            )
            found = found[:DEPTH]
            warm.append(await _reranked(title, found, corpus.embedder, corpus.vectors))
            cold.append(await _reranked(title, found, corpus.embedder, None))
            texts = [candidate.chunk.embedded_text for candidate in found]
            clock = time.perf_counter()
            encode(texts)
            bare.append(1000 * (time.perf_counter() - clock))
    size = (scratch / VECTORS.file).stat().st_size / 1e6  # closed: nothing is in its log
    ratios = [one / other for one, other in zip(cold[1:], bare[1:], strict=True)]
    return [
        figure(f"rerank of {DEPTH}, vectors stored", warm[1:], "ms", at_most=WARM_MS),
        figure(f"rerank of {DEPTH}, no vectors", cold[1:], "ms"),
        figure("over the encoder alone, by questions", ratios, "times", at_most=COLD_RATIO),
        figure("token vectors of 1,000 chunks", [1000 * size / chunks], "MB"),
    ]


async def _reranked(
    question: str,
    found: Sequence[Candidate],
    embedder: Embedder,
    stored: PassageVectorStore | None,
) -> float:
    """Milliseconds, the encoding of the question among them."""
    reranker = LateInteractionReranker(
        TokenVectors(embedder, megabytes=64, stored=stored), weight=1 / 3
    )
    clock = time.perf_counter()
    await reranker.rerank(question, found)
    return 1000 * (time.perf_counter() - clock)


async def search_figures(embedder: Embedder, questions: int, scratch: Path) -> list[Figure]:
    """Both sizes take turns; no question comes twice."""
    small = await Base.filled(scratch / "small", SMALL, embedder)
    large = await Base.filled(scratch / "large", LARGE, embedder)
    took: dict[Base, list[float]] = {small: [], large: []}
    for n in range(questions + 1):
        for base in (small, large) if n % 2 else (large, small):
            took[base].append(await base.search())
    for base in took:
        await base.close()
    below, above = took[small][1:], took[large][1:]
    ratio = float(np.median(above) / np.median(below))
    return [
        figure(f"straight retrieval, {SMALL} chunks", below, "ms"),
        figure(f"straight retrieval, {LARGE} chunks", above, "ms"),
        resampled_ratio("ratio of the two", ratio, above, below, GROWTH),
    ]


class Base:
    """A drawn base of some size, with records in memory."""

    def __init__(self, folder: Path, chunks: int, embedder: Embedder) -> None:
        self._corpus = Corpus(chunks)
        self._store = QdrantEdgeStore(folder, DIMENSION)
        self._records = SqlRecords(SqliteDatabase(":memory:", RECORDS))
        self._live = LiveBases(self._records, "bench", embedder.fingerprint)
        self._index = Index(
            embedder=embedder, sparse=Bm25Encoder(), store=self._store, bases=self._live
        )

    @classmethod
    async def filled(cls, folder: Path, chunks: int, embedder: Embedder) -> "Base":
        base = cls(folder, chunks, embedder)
        base._records.create_knowledge_base(
            LOCAL.tenant, KnowledgeBase(BASE, "", "", embedder.fingerprint, "bench")
        )
        for n in range(chunks // 10):
            source = f"{n}.md"
            document = DocumentRecord(
                document_id(LOCAL.tenant, BASE, source), source, f"Document {n}", "r", source,
                "text/markdown", 10, "",
            )  # fmt: skip
            base._records.begin_revision(LOCAL.tenant, BASE, document)
            base._records.make_live(LOCAL.tenant, BASE, document, "")
        for start in range(0, chunks, BATCH):
            part = range(start, min(start + BATCH, chunks))
            await base._store.upsert([base._corpus.chunk(n) for n in part])
        await base._store.optimize()
        print(f"{chunks} chunks written", file=sys.stderr)
        return base

    async def search(self) -> float:
        """Milliseconds, the embedding of a new question among them."""
        question = self._corpus.text(6)
        clock = time.perf_counter()
        found = await self._index.search(
            LOCAL, BASE, question, [question], limit=50, filters=CURRENT
        )
        took = 1000 * (time.perf_counter() - clock)
        if not found:
            raise RuntimeError("nothing was found")
        return took

    async def close(self) -> None:
        self._live.close()
        self._records.close()
        await self._store.close()


async def measure(folder: Path, questions: int, scratch: Path) -> list[Figure]:
    embedder = open_embedder(IndexSettings().embedder)
    await embedder.load()
    reranked = await rerank_figures(folder, questions, scratch / "data")
    searched = await search_figures(embedder, questions, scratch)
    embedder.close()
    return reranked + searched


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--folder", type=Path, default=Path("examples/handbook"))
    options.add_argument("--questions", type=int, default=20)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = asyncio.run(measure(given.folder, given.questions, Path(scratch)))
    finish("rerank_speed", figures, {"folder": given.folder.name}, as_json=given.json)


if __name__ == "__main__":
    main()
