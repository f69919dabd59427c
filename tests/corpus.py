"""A real corpus, on disk unless it is said (Qdrant Edge, SQLite), with any embedder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.qdrant_edge import QdrantEdgeStore
from ingest.adapters.record_rows import RECORDS
from ingest.adapters.sql_records import SqlRecords
from ingest.compose import Corpus, open_vectors
from ingest.data_folder import DataFolder
from ingest.database import open_database
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.index import Index
from ingest.live import LiveBases
from ingest.pipeline import FileResult, IngestReport, ingest, ingest_upload
from ingest.ports import ChunkStore, Embedder
from ingest.scope import LOCAL
from ingest.settings import DatabaseSettings, SplitSettings
from ingest.writer import Writer

BASE = "kb"
PIPELINE = "test-pipeline"
SQLITE = DatabaseSettings()
SMALL = SplitSettings(max_tokens=40, overlap_tokens=0)


@asynccontextmanager
async def open_corpus(
    path: Path,
    embedder: Embedder,
    store: ChunkStore | None = None,
    split: SplitSettings = SMALL,
    database: DatabaseSettings = SQLITE,
) -> AsyncIterator["OpenCorpus"]:
    """As ingest.compose.open_index, but with this embedder, and its base is there."""
    folder = DataFolder(path)
    records = SqlRecords(open_database(database, path, RECORDS))
    bases = LiveBases(records, PIPELINE, embedder.fingerprint)
    store = store or QdrantEdgeStore(path / "chunks", embedder.dimension)
    vectors = open_vectors(database, path, embedder.fingerprint)
    sparse = Bm25Encoder()
    index = Index(embedder=embedder, sparse=sparse, store=store, bases=bases)
    writer = Writer(
        embedder=embedder,
        sparse=sparse,
        store=store,
        vectors=vectors,
        records=records,
        bases=bases,
        split=split,
        pipeline=PIPELINE,
    )
    try:
        await bases.check_embedder(LOCAL)
        await writer.recover()
        if BASE not in [base.name for base in await bases.bases(LOCAL)]:
            await writer.create_knowledge_base(LOCAL, BASE)
        corpus = Corpus(folder, index, writer, bases, embedder, vectors)
        yield OpenCorpus(corpus, store, records)
    finally:
        writer.close()
        bases.close()
        await store.close()
        vectors.close()
        records.close()
        folder.close()


class OpenCorpus:
    """The parts of an open corpus, and what tests do with it."""

    def __init__(self, corpus: Corpus, store: ChunkStore, records: SqlRecords) -> None:
        self.corpus = corpus
        self.index = corpus.index
        self.writer = corpus.writer
        self.bases = corpus.bases
        self.vectors = corpus.vectors
        self.store = store
        self.records = records

    async def upload(self, source: str, text: str) -> FileResult:
        return await ingest_upload(
            source,
            text.encode(),
            scope=LOCAL,
            knowledge_base=BASE,
            index=self.index,
            writer=self.writer,
        )

    async def ingest(self, folder: Path, *, delete_missing: bool = False) -> IngestReport:
        return await ingest(
            folder,
            scope=LOCAL,
            knowledge_base=BASE,
            index=self.index,
            writer=self.writer,
            delete_missing=delete_missing,
        )

    async def delete(self, source: str) -> None:
        (document,) = [d for d in await self.index.documents(LOCAL, BASE) if d.source == source]
        await self.writer.delete_document(LOCAL, BASE, document.document_id)

    async def found(self, question: str, filters: Filters | None = None) -> list[Candidate]:
        return await self.index.search(
            LOCAL, BASE, question, [question], limit=10, filters=filters or Filters()
        )

    async def sources(self, question: str, filters: Filters | None = None) -> list[str]:
        """The sources of what is found, best first, without repeats."""
        found = await self.found(question, filters)
        return list(dict.fromkeys(c.chunk.metadata["source"] for c in found))

    async def chunks(self) -> int:
        return await self.store.count(LOCAL.tenant, BASE)
