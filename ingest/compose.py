"""Opens the corpus and its index: the one place where ingest meets its vendors."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from ingest.data_folder import DataFolder
from ingest.index import Index
from ingest.live import LiveBases
from ingest.ports import Embedder
from ingest.scope import LOCAL
from ingest.settings import IndexSettings
from ingest.writer import Writer

LOADERS_VERSION = 1
"""Grows when a loader or the splitter gives another text, so that files are read anew."""


@dataclass(frozen=True)
class Corpus:
    """An open data folder: what reads, what writes, and the embedder they share."""

    folder: DataFolder
    index: Index
    writer: Writer
    bases: LiveBases
    embedder: Embedder


@asynccontextmanager
async def open_index(settings: IndexSettings) -> AsyncIterator[Corpus]:
    """Raises DataFolderHeld, UnknownDataFormat or EmbedderMismatch. Loads no model."""
    from ingest.adapters.bm25 import Bm25Encoder
    from ingest.adapters.qdrant_edge import QdrantEdgeStore
    from ingest.adapters.sentence_transformer import SentenceTransformerEmbedder
    from ingest.adapters.sqlite_records import SqliteRecords

    async with AsyncExitStack() as opened:
        folder = DataFolder(settings.data_dir)
        opened.callback(folder.close)
        embedder = SentenceTransformerEmbedder()
        opened.callback(embedder.close)
        sparse = Bm25Encoder()
        pipeline = (
            f"{embedder.fingerprint} {sparse.fingerprint} loaders-{LOADERS_VERSION} "
            f"split-{settings.split.max_tokens}-{settings.split.overlap_tokens}"
        )
        records = SqliteRecords(folder.path / "records.sqlite")
        opened.callback(records.close)
        store = QdrantEdgeStore(folder.path / "chunks", embedder.dimension)
        opened.push_async_callback(store.close)
        bases = LiveBases(records, pipeline, embedder.fingerprint)
        opened.callback(bases.close)
        writer = Writer(
            embedder=embedder,
            sparse=sparse,
            store=store,
            records=records,
            bases=bases,
            split=settings.split,
            pipeline=pipeline,
        )
        opened.callback(writer.close)
        index = Index(embedder=embedder, sparse=sparse, store=store, bases=bases)
        await bases.check_embedder(LOCAL)
        await writer.recover()
        yield Corpus(folder, index, writer, bases, embedder)
