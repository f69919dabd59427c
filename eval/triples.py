"""Triples (question, answering passage, on-topic passage that does not answer) as passages."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.labelled_passages import Passage
from graph.adapters.pool_signs import read_passages
from graph.adapters.question_signs import read_question
from graph.adapters.token_vectors import TokenVectors
from ingest.adapters.memory import MemoryStore
from ingest.documents import Candidate, Chunk
from ingest.errors import ConfigurationError
from ingest.ports import Embedder, QueryVectors, SparseEncoder, StoredChunk
from ingest.scope import EVERYONE, LOCAL

BASE = "triples"


@dataclass(frozen=True)
class Triple:
    id: str
    question: str
    answering: Candidate
    on_topic: Candidate


async def load_triples(
    file: Path, embedder: Embedder, sparse: SparseEncoder, *, frozen: bool
) -> list[Triple]:
    """The open or the frozen half, scored against each other's passages as one small base."""
    rows = []
    content = await asyncio.to_thread(file.read_text, encoding="utf-8")
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            row = json.loads(line)
            rows += [row] if row["frozen"] is frozen else []
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{file}:{number}: no triple: {error}") from None
    chunks = [_chunk(row, kind) for row in rows for kind in ("answering", "on_topic")]
    store = MemoryStore()
    vectors = await embedder.embed([chunk.embedded_text for chunk in chunks])
    await store.upsert(
        [
            StoredChunk(chunk, LOCAL.tenant, BASE, [EVERYONE], vector, sparse.document(chunk.text))
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
    )
    triples = []
    for row, pair in zip(rows, zip(chunks[::2], chunks[1::2], strict=True), strict=True):
        query = QueryVectors(
            (await embedder.embed([row["question"]], role="question"))[0],
            sparse.query(row["question"]),
        )
        scores = await store.score(LOCAL, BASE, query, [chunk.chunk_id for chunk in pair])
        answering, on_topic = (
            Candidate(c, dict(zip(("dense", "bm25"), scores[c.chunk_id], strict=True)))
            for c in pair
        )
        triples.append(Triple(row["id"], row["question"], answering, on_topic))
    return triples


async def triple_passages(triples: Sequence[Triple], vectors: TokenVectors) -> list[Passage]:
    """As labelled passages. No sentence is labelled in a triple: of the answering passage the one
    that holds the expected kind and is nearest to the question counts as stating the answer."""
    passages = []
    for triple in triples:
        pair = [triple.answering, triple.on_topic]
        asked = read_question(triple.question, await vectors.question(triple.question))
        encoded = await vectors.passages([candidate.chunk for candidate in pair])
        for label, sentences in zip(
            (True, False), read_passages(asked, pair, encoded), strict=True
        ):
            best = max(
                range(len(sentences)),
                key=lambda i: (sentences[i][0].holds, sentences[i][1]["cosine"]),
            )
            states = [label and i == best for i in range(len(sentences))]
            passages.append(Passage(f"{BASE}/{triple.id}", sentences, states, label))
    return passages


def _chunk(row: dict[str, str], kind: str) -> Chunk:
    identity = f"{row['id']}-{kind}"
    return Chunk(identity, identity, "1", 0, row[kind], 0, len(row[kind]), "")
