"""Opens the corpus and its index: the one place where ingest meets its vendors."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ingest.access import open_access
from ingest.data_folder import DataFolder, Holder
from ingest.database import open_database
from ingest.errors import ConfigurationError
from ingest.index import Index
from ingest.live import LiveBases
from ingest.passage_vectors import PassageVectorStore
from ingest.ports import ChunkStore, DraftStore, Embedder, Encoders, Records, SparseEncoder
from ingest.scope import Scope
from ingest.settings import DatabaseSettings, IndexSettings
from ingest.writer import Writer

LOADERS_VERSION = 2
"""Grows when a loader or the splitter gives another text, so that files are read anew."""

CHUNKS = "chunks"
"""The embedded store's part of the data folder."""


@dataclass(frozen=True)
class Corpus:
    """An open data folder: what reads, what writes, the embedder they share, and what it saw in
    the passages, token by token."""

    folder: DataFolder
    index: Index
    writer: Writer
    bases: LiveBases
    embedder: Embedder
    vectors: PassageVectorStore


@dataclass(frozen=True)
class Holdings:
    """What an open data folder keeps, unchecked: documents in `records`, their chunks in `store`,
    which may be on a server, and their token vectors."""

    folder: DataFolder
    records: Records
    store: ChunkStore
    vectors: PassageVectorStore
    embedder: Embedder
    sparse: SparseEncoder
    encoders: Encoders


@asynccontextmanager
async def open_index(
    settings: IndexSettings, holder: Holder | None = None
) -> AsyncIterator[Corpus]:
    """Raises DataFolderHeld, UnknownDataFormat or EmbedderMismatch, and DependencyError where the
    Qdrant server does not answer. Loads no model."""
    async with open_holdings(settings, holder=holder) as held, AsyncExitStack() as opened:
        corpus = _corpus(settings, held, opened)
        for tenant in await corpus.bases.tenants():
            everything = Scope(tenant, manages=True)
            await corpus.bases.check_embedder(everything)
            names = [base.name for base in await corpus.bases.bases(everything)]
            await held.store.check(tenant, names)
        await corpus.writer.recover()
        yield corpus


@asynccontextmanager
async def open_holdings(
    settings: IndexSettings, folder: DataFolder | None = None, *, holder: Holder | None = None
) -> AsyncIterator[Holdings]:
    """In `folder` where it is open already; else `holder` is who holds it. Raises DataFolderHeld or
    UnknownDataFormat, and ConfigurationError for stores that do not go together or a database that
    does not answer."""
    async with AsyncExitStack() as opened:
        opening = asyncio.ensure_future(asyncio.to_thread(_held, settings, opened, folder, holder))
        try:
            held = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The thread cannot be stopped, and what it opens must be closed.
            await asyncio.wait([opening])
            raise
        yield held


def _held(
    settings: IndexSettings,
    opened: AsyncExitStack,
    folder: DataFolder | None,
    holder: Holder | None,
) -> Holdings:
    """Works on files, so not on an event loop. What must be closed is left to `opened`."""
    from ingest.adapters.bm25 import Bm25Encoder
    from ingest.adapters.embedders import open_embedder
    from ingest.adapters.record_rows import RECORDS
    from ingest.adapters.sql_records import SqlRecords

    check_stores(settings)
    if folder is None:
        folder = DataFolder(settings.data_dir, holder)
        opened.callback(folder.close)
    embedder = open_embedder(settings.embedder)
    opened.callback(embedder.close)
    records = SqlRecords(open_database(settings.database, folder.path, RECORDS))
    opened.callback(records.close)
    vectors = open_vectors(
        settings.database, folder.path, embedder.fingerprint, keeps=settings.token_vectors
    )
    opened.callback(vectors.close)
    sparse = Bm25Encoder()
    encoders = Encoders(embedder.fingerprint, sparse.fingerprint, embedder.dimension)
    store = open_store(settings, folder.path, encoders)
    opened.push_async_callback(store.close)
    return Holdings(folder, records, store, vectors, embedder, sparse, encoders)


def check_stores(settings: IndexSettings) -> None:
    """Raises ConfigurationError."""
    url = settings.database.url
    if url is None:
        return
    from ingest.adapters.postgres_database import check_database

    if settings.qdrant.url is None:
        raise ConfigurationError(
            "CRAG_DATABASE__URL keeps the documents where several processes share them, so their "
            "passages must be on a Qdrant server: set CRAG_QDRANT__URL"
        )
    if why := check_database(url.get_secret_value()):
        raise ConfigurationError(f"CRAG_DATABASE__URL: {why}")


def open_vectors(
    database: DatabaseSettings, folder: Path, embedder: str, *, keeps: bool = True
) -> PassageVectorStore:
    from ingest.adapters.sql_vectors import READ_VECTORS, VECTORS, SqlPassageVectors

    writes, reads = (open_database(database, folder, one) for one in (VECTORS, READ_VECTORS))
    return SqlPassageVectors(writes, reads, embedder=embedder, keeps=keeps)


def open_store(settings: IndexSettings, folder: Path, encoders: Encoders) -> ChunkStore:
    """On the Qdrant server that the settings name, else in the data folder. Connects to nothing."""
    if settings.qdrant.url is None:
        from ingest.adapters.qdrant_edge import QdrantEdgeStore

        return QdrantEdgeStore(folder / CHUNKS, encoders.dimension)
    from ingest.adapters.qdrant_server import QdrantServerStore, connect

    return QdrantServerStore(connect(settings.qdrant), settings.qdrant, encoders)


def open_draft(settings: IndexSettings, folder: Path, encoders: Encoders) -> DraftStore:
    """Where chunks are embedded anew, beside those of `open_store`."""
    if settings.qdrant.url is None:
        from ingest.adapters.edge_draft import QdrantEdgeDraft

        return QdrantEdgeDraft(folder / CHUNKS, encoders.dimension)
    from ingest.adapters.qdrant_draft import QdrantServerDraft
    from ingest.adapters.qdrant_server import connect

    return QdrantServerDraft(connect(settings.qdrant), settings.qdrant, encoders)


def _corpus(settings: IndexSettings, held: Holdings, opened: AsyncExitStack) -> Corpus:
    embedder, sparse, records, store = held.embedder, held.sparse, held.records, held.store
    pipeline = (
        f"{embedder.fingerprint} {sparse.fingerprint} loaders-{LOADERS_VERSION} "
        f"split-{settings.split.max_tokens}-{settings.split.overlap_tokens}"
    )
    bases = LiveBases(records, pipeline, embedder.fingerprint)
    opened.callback(bases.close)
    writer = Writer(
        embedder=embedder,
        sparse=sparse,
        store=store,
        vectors=held.vectors,
        records=records,
        bases=bases,
        split=settings.split,
        pipeline=pipeline,
    )
    opened.callback(writer.close)
    index = Index(
        embedder=embedder,
        sparse=sparse,
        store=store,
        bases=bases,
        access=open_access(settings.access),
        dense_weight=settings.dense_weight,
    )
    return Corpus(held.folder, index, writer, bases, embedder, held.vectors)
