"""Collections of a Qdrant server: one for each knowledge base, reached by an alias.

Term statistics are a collection's own, as those of an embedded shard are: no base sees the words of
another one in its scores, and deleting a base is dropping its collection. (One collection for all
would need an IDF corpus in every query: ten times the time at 50,000 passages.)
"""

import asyncio
import hashlib
import re
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from ingest.adapters.payload import INDEXED
from ingest.adapters.qdrant_calls import CollectionExists, MissingCollection, QdrantCalls
from ingest.documents import ID_SPACE
from ingest.errors import EmbedderMismatch
from ingest.settings import QdrantSettings

SLUG = re.compile(r"[^a-z0-9_-]+")
STRICT = models.StrictModeConfig(
    enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
)
"""Without it a filter on a key that has no index is slow and nobody is told."""


@dataclass(frozen=True)
class Encoders:
    """What made the vectors: fingerprints of both encoders, and the dense dimension."""

    embedder: str
    sparse: str
    dimension: int

    @property
    def metadata(self) -> dict[str, str]:
        return {"embedder": self.embedder, "sparse": self.sparse}


class QdrantCollections:
    """Makes, checks and drops them. Creation and deletion may race: the outcome is the same."""

    def __init__(
        self,
        client: AsyncQdrantClient,
        calls: QdrantCalls,
        settings: QdrantSettings,
        encoders: Encoders,
    ) -> None:
        self._client = client
        self._calls = calls
        self._settings = settings
        self._encoders = encoders
        self._checked: set[str] = set()
        self._making = asyncio.Lock()

    def alias(self, tenant: str, knowledge_base: str) -> str:
        """A name of its own for each base, whatever stands in its name."""
        slug = SLUG.sub("-", knowledge_base.lower())[:40]
        own = uuid.uuid5(ID_SPACE, f"{tenant}\x00{knowledge_base}").hex
        return f"{self._settings.prefix}-{slug}-{own}"

    def collection(self, alias: str) -> str:
        """What the alias stands for with these encoders; others have another collection."""
        encoders = f"{self._encoders.embedder}\x00{self._encoders.sparse}"
        return f"{alias}-{hashlib.sha256(encoders.encode()).hexdigest()[:8]}"

    async def exists(self, alias: str) -> bool:
        """Raises EmbedderMismatch where other encoders filled it."""
        if alias in self._checked:
            return True
        try:
            info = await self._calls(lambda: self._client.get_collection(alias))
        except MissingCollection:
            return False
        found = info.config.metadata or {}
        if found != self._encoders.metadata:
            raise EmbedderMismatch(self._explained(alias, found))
        self._checked.add(alias)
        return True

    async def ensure(self, alias: str) -> None:
        async with self._making:
            if not await self.exists(alias):
                await self.make(alias)
                await self.point(alias)
                await self.exists(alias)

    async def make(self, alias: str) -> str:
        """The collection with all its indexes; no alias leads to it yet."""
        name = self.collection(alias)
        vectors = {
            "dense": models.VectorParams(
                size=self._encoders.dimension, distance=models.Distance.COSINE
            )
        }
        sparse = {"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)}
        with suppress(CollectionExists):
            await self._calls(
                lambda: self._client.create_collection(
                    name,
                    vectors_config=vectors,
                    sparse_vectors_config=sparse,
                    shard_number=self._settings.shard_number,
                    replication_factor=self._settings.replication_factor,
                    write_consistency_factor=self._settings.write_consistency_factor,
                    strict_mode_config=STRICT,
                    metadata=self._encoders.metadata,
                )
            )
        for key in INDEXED:
            await self._index(name, key)
        return name

    async def point(self, alias: str) -> None:
        """Lets the alias stand for the collection of these encoders, at once."""
        switch = [
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(
                    collection_name=self.collection(alias), alias_name=alias
                )
            )
        ]
        await self._calls(lambda: self._client.update_collection_aliases(switch))

    async def drop(self, alias: str, *, but: str | None = None) -> None:
        """Deletes all collections of a base, with its alias; or all of them but one."""
        self._checked.discard(alias)
        found = await self._calls(self._client.get_collections)
        for name in [one.name for one in found.collections]:
            if name.startswith(f"{alias}-") and name != but:
                await self._delete(name)

    def forget(self, alias: str) -> None:
        """What was known of it no longer holds."""
        self._checked.discard(alias)

    def _explained(self, alias: str, found: dict[str, Any]) -> str:
        if not found:
            return (
                f"the Qdrant collection {alias} names no embedder: it was not made by this "
                "service, or the server is older than 1.16"
            )
        return (
            f"the Qdrant collection {alias} was filled with {found.get('embedder')} and "
            f"{found.get('sparse')}, this service runs {self._encoders.embedder} and "
            f"{self._encoders.sparse}; set the embedder back, or run crag kb reembed"
        )

    async def _index(self, name: str, key: str) -> None:
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        schema = tenant if key == "tenant" else models.PayloadSchemaType.KEYWORD
        await self._calls(
            lambda: self._client.create_payload_index(name, key, field_schema=schema, wait=True)
        )

    async def _delete(self, name: str) -> None:
        with suppress(MissingCollection):
            await self._calls(lambda: self._client.delete_collection(name))
