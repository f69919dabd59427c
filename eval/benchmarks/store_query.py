"""The service's own search of its store against the engine's fused query, on 50,000 chunks.

The service returns more than the engine's query: the chunks of all 50 + 50 hits, and both arms'
scores for each. The store keeps chunks in memory; the last reading, without a target, is without.

python -m eval.benchmarks.store_query [--json] [--chunks 50000] [--questions 200]
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from qdrant_edge import EdgeShard, Fusion, Prefetch, Query, QueryRequest, SparseVector

from eval.benchmarks.report import Figure, figure, finish
from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.edge_filters import scope_filter
from ingest.adapters.qdrant_edge import KEPT_CHUNKS, QdrantEdgeStore
from ingest.documents import Chunk, chunk_id, document_id
from ingest.filters import Filters
from ingest.ports import QueryVectors, StoredChunk
from ingest.scope import EVERYONE, LOCAL

BASE = "bench"
DIMENSION = 384
CLUSTERS = 500
VOCABULARY = 20_000
WORDS = 100
BATCH = 500
HITS, SHOWN = 50, 10
RATIO = 1.5
WARMING_S = 60.0
RRF: Any = Fusion.Rrf(k=60)
"""Its stub does not call it a query."""


class Corpus:
    """Vectors around CLUSTERS centres, words by Zipf's law; always the same."""

    def __init__(self, size: int) -> None:
        self._random = np.random.default_rng(0)
        centres = self._random.normal(size=(CLUSTERS, DIMENSION))
        vectors = centres[self._random.integers(0, CLUSTERS, size)]
        vectors = vectors + 0.6 * self._random.normal(size=(size, DIMENSION))
        self.vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        frequency = 1 / np.arange(1, VOCABULARY + 1)
        self._frequency = frequency / frequency.sum()
        self._bm25 = Bm25Encoder()

    def chunk(self, n: int) -> StoredChunk:
        text = self.text(WORDS)
        document = document_id(LOCAL.tenant, BASE, f"{n // 10}.md")
        chunk = Chunk(
            chunk_id=chunk_id(document, "r", n % 10),
            document_id=document,
            revision="r",
            ordinal=n % 10,
            text=text,
            start=0,
            end=len(text),
            title=f"Document {n // 10}",
            heading="Part",
            metadata={"source": f"{n // 10}.md", "status": "current", "language": "en"},
        )
        return StoredChunk(
            chunk, LOCAL.tenant, BASE, [EVERYONE], self.vectors[n], self._bm25.document(text)
        )

    def query(self) -> QueryVectors:
        """Near one of the chunks, with six words."""
        near = self.vectors[self._random.integers(0, len(self.vectors))]
        noise = 0.015 * self._random.normal(size=DIMENSION)
        return QueryVectors((near + noise).astype(np.float32), self._bm25.query(self.text(6)))

    def text(self, words: int) -> str:
        drawn = self._random.choice(VOCABULARY, words, p=self._frequency)
        return " ".join(f"term{n}" for n in drawn)


async def measure(folder: Path, chunks: int, questions: int) -> list[Figure]:
    corpus = Corpus(chunks)
    store = QdrantEdgeStore(folder, DIMENSION)
    for start in range(0, chunks, BATCH):
        await store.upsert([corpus.chunk(n) for n in range(start, min(start + BATCH, chunks))])
    print(f"{chunks} chunks written; building the index", file=sys.stderr)
    await store.optimize()
    queries = [corpus.query() for _ in range(2 * questions)]
    figures = await _ratio(store, queries[:questions], "after ingestion", at_most=RATIO)
    await store.close()
    reopened = QdrantEdgeStore(folder, DIMENSION)
    seconds = await _until_warm(reopened, queries[questions], chunks)
    figures += [figure("chunks back in memory after reopening", [seconds], "s")]
    figures += await _ratio(reopened, queries[questions:], "reopened", at_most=RATIO)
    await reopened.close()
    bare = QdrantEdgeStore(folder, DIMENSION, kept_chunks=0)
    figures += await _ratio(bare, queries[questions:], "no chunk in memory")
    await bare.close()
    return figures


async def _until_warm(store: QdrantEdgeStore, query: QueryVectors, chunks: int) -> float:
    clock = time.perf_counter()
    await store.search(LOCAL, BASE, query, limit=HITS, filters=Filters())
    wanted = min(chunks, KEPT_CHUNKS)
    while KEPT_CHUNKS - store._chunks.room < wanted:
        if time.perf_counter() - clock > WARMING_S:
            raise RuntimeError(f"only {KEPT_CHUNKS - store._chunks.room} chunks are in memory")
        await asyncio.sleep(0.1)
    return time.perf_counter() - clock


async def _ratio(
    store: QdrantEdgeStore, queries: list[QueryVectors], name: str, *, at_most: float | None = None
) -> list[Figure]:
    """Both on each question, taking turns at being first; no question comes twice."""
    shard = store._shards.get(store._shards.path(LOCAL.tenant, BASE))
    if shard is None:
        raise RuntimeError("the base was not written")
    service: list[float] = []
    engine: list[float] = []
    for n, query in enumerate(queries):
        if n % 2:
            engine.append(_engine(shard, query))
            service.append(await _service(store, query))
        else:
            service.append(await _service(store, query))
            engine.append(_engine(shard, query))
    ratio = float(np.median(service) / np.median(engine))
    return [
        figure(f"engine's fused query, {name}", engine, "ms"),
        figure(f"service's search, {name}", service, "ms"),
        resampled_ratio(f"ratio, {name}", ratio, service, engine, at_most),
    ]


def resampled_ratio(
    name: str, ratio: float, above: list[float], below: list[float], at_most: float | None
) -> Figure:
    """The ratio of the medians, with the 10th and 90th percentile of its bootstrap."""
    random = np.random.default_rng(0)
    drawn = random.integers(0, len(above), (1000, len(above)))
    over = np.median(np.asarray(above)[drawn], axis=1)
    ratios = over / np.median(np.asarray(below)[drawn], axis=1)
    p10, p90 = (round(float(p), 3) for p in np.percentile(ratios, [10, 90]))
    return Figure(name, round(ratio, 3), "times", len(above), p10, p90, at_most=at_most)


async def _service(store: QdrantEdgeStore, query: QueryVectors) -> float:
    clock = time.perf_counter()
    await store.search(LOCAL, BASE, query, limit=HITS, filters=Filters())
    return 1000 * (time.perf_counter() - clock)


def _engine(shard: EdgeShard, query: QueryVectors) -> float:
    """From the same values to points with their payload."""
    clock = time.perf_counter()
    condition = scope_filter(LOCAL, BASE, Filters())
    dense = Query.Nearest(query.dense.tolist(), using="dense")
    words = SparseVector(query.sparse.indices, query.sparse.values)
    sparse = Query.Nearest(words, using="bm25")
    points = shard.query(
        QueryRequest(
            limit=SHOWN,
            prefetches=[
                Prefetch(limit=HITS, query=dense, filter=condition),
                Prefetch(limit=HITS, query=sparse, filter=condition),
            ],
            query=RRF,
            with_payload=True,
        )
    )
    read: list[Any] = [(point.id, point.score, point.payload) for point in points]
    if len(read) != SHOWN:
        raise RuntimeError(f"the engine found {len(read)} of {SHOWN}")
    return 1000 * (time.perf_counter() - clock)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--chunks", type=int, default=50_000)
    options.add_argument("--questions", type=int, default=200)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder) / "chunks", given.chunks, given.questions))
    parts = {
        "chunks": given.chunks,
        "service": f"{HITS} + {HITS} hits, both scores and the chunk of each",
        "engine": f"prefetch {HITS} + {HITS}, RRF, {SHOWN} points with payload, same filter",
    }
    finish("store_query", figures, parts, as_json=given.json)


if __name__ == "__main__":
    main()
