"""One PostgreSQL and one Qdrant, for several processes with a data folder each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.qdrant_server import QdrantServerStore
from ingest.ports import Encoders
from ingest.settings import DatabaseSettings, QdrantSettings
from tests.corpus import OpenCorpus, open_corpus
from tests.fake_qdrant import FakeQdrant
from tests.fakes import HashingEmbedder


class Place:
    """A process here is what has connections, caches and a folder of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.fake = FakeQdrant()

    @property
    def database(self) -> DatabaseSettings:
        return DatabaseSettings.model_validate({"url": self.url})

    def store(self, embedder: HashingEmbedder) -> QdrantServerStore:
        encoders = Encoders(embedder.fingerprint, Bm25Encoder().fingerprint, embedder.dimension)
        settings = QdrantSettings(url="http://qdrant.test:6333")
        return QdrantServerStore(self.fake.client(), settings, encoders)

    @asynccontextmanager
    async def process(
        self, name: str, embedder: HashingEmbedder | None = None
    ) -> AsyncIterator[OpenCorpus]:
        embedder = embedder or HashingEmbedder()
        store = self.store(embedder)
        async with open_corpus(
            self.folder / name, embedder, store, database=self.database
        ) as corpus:
            yield corpus
        embedder.close()
