"""Opens the corpus and its index: the one place where ingest meets its vendors."""

import asyncio
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
    async with AsyncExitStack() as opened:
        opening = asyncio.ensure_future(asyncio.to_thread(_opened, settings, opened))
        try:
            corpus = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The thread cannot be stopped, and what it opens must be closed.
            await asyncio.wait([opening])
            raise
        await corpus.bases.check_embedder(LOCAL)
        await corpus.writer.recover()
        yield corpus


def _opened(settings: IndexSettings, opened: AsyncExitStack) -> Corpus:
    """Works on files, so not on an event loop. What must be closed is left to `opened`."""
    from ingest.adapters.bm25 import Bm25Encoder
    from ingest.adapters.qdrant_edge import QdrantEdgeStore
    from ingest.adapters.sentence_transformer import SentenceTransformerEmbedder
    from ingest.adapters.sqlite_records import SqliteRecords

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
    return Corpus(folder, index, writer, bases, embedder)
