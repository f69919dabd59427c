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
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from ingest.adapters.payload import INDEXED
from ingest.adapters.qdrant_calls import CollectionExists, MissingCollection, QdrantCalls
from ingest.documents import ID_SPACE
from ingest.errors import EmbedderMismatch
from ingest.ports import Encoders
from ingest.settings import QdrantSettings, set_back

SLUG = re.compile(r"[^a-z0-9_-]+")
STRICT = models.StrictModeConfig(
    enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
)
"""Without it a filter on a key that has no index is slow and nobody is told."""


DRAFT = "-draft"


class QdrantCollections:
    """Makes, checks and drops them. Creation and deletion may race: the outcome is the same.

    A draft is a base's next collection under an alias that nobody searches.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        calls: QdrantCalls,
        settings: QdrantSettings,
        encoders: Encoders,
        *,
        draft: bool = False,
    ) -> None:
        self._client = client
        self._calls = calls
        self._settings = settings
        self._encoders = encoders
        self._metadata = {"embedder": encoders.embedder, "sparse": encoders.sparse}
        self._suffix = DRAFT if draft else ""
        self._checked: set[str] = set()
        self._making = asyncio.Lock()

    def alias(self, tenant: str, knowledge_base: str) -> str:
        """A name of its own for each base, whatever stands in its name."""
        slug = SLUG.sub("-", knowledge_base.lower())[:40]
        own = uuid.uuid5(ID_SPACE, f"{tenant}\x00{knowledge_base}").hex
        return f"{self._settings.prefix}-{slug}-{own}{self._suffix}"

    def collection(self, alias: str) -> str:
        """What the alias stands for with these encoders; others have another collection."""
        encoders = f"{self._encoders.embedder}\x00{self._encoders.sparse}"
        base = alias.removesuffix(self._suffix)
        return f"{base}-{hashlib.sha256(encoders.encode()).hexdigest()[:8]}"

    async def exists(self, alias: str) -> bool:
        """Raises EmbedderMismatch where other encoders filled it."""
        if alias in self._checked:
            return True
        found = await self._found(alias)
        if found is None:
            return False
        if found != self._metadata:
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
                    metadata=self._metadata,
                )
            )
        for key in INDEXED:
            await self._index(name, key)
        return name

    async def point(self, alias: str) -> None:
        """Lets the alias stand for the collection of these encoders."""
        await self._switch(_creation(alias, self.collection(alias)))

    async def is_published(self, draft: str) -> bool:
        return await self._found(draft.removesuffix(self._suffix)) == self._metadata

    async def publish(self, draft: str) -> None:
        """The draft is searched from now on, in one step; older collections are deleted."""
        alias, collection = draft.removesuffix(self._suffix), self.collection(draft)
        gone = models.DeleteAlias(alias_name=draft)
        await self._switch(
            _creation(alias, collection), models.DeleteAliasOperation(delete_alias=gone)
        )
        self._checked.discard(draft)
        await self._delete_all(alias, but=collection)

    async def drop(self, alias: str) -> None:
        """Deletes a base with all its collections and aliases, or only its draft."""
        self._checked.discard(alias)
        if self._suffix:
            await self._delete(self.collection(alias))
        else:
            await self._delete_all(alias)

    def forget(self, alias: str) -> None:
        """What was known of it no longer holds."""
        self._checked.discard(alias)

    async def _found(self, alias: str) -> dict[str, Any] | None:
        """The encoders that its collection names; None where there is none."""
        try:
            info = await self._calls(lambda: self._client.get_collection(alias))
        except MissingCollection:
            return None
        return info.config.metadata or {}

    def _explained(self, alias: str, found: dict[str, Any]) -> str:
        if not found:
            return (
                f"the Qdrant collection {alias} names no embedder: it was not made by this "
                "service, or the server is older than 1.16"
            )
        return (
            f"the Qdrant collection {alias} was filled with {found.get('embedder')} and "
            f"{found.get('sparse')}, this service runs {self._encoders.embedder} and "
            f"{self._encoders.sparse}; {set_back(str(found.get('embedder')))}, run crag kb "
            "reembed, or, if it is another data folder's, set another CRAG_QDRANT__PREFIX"
        )

    async def _index(self, name: str, key: str) -> None:
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        schema = tenant if key == "tenant" else models.PayloadSchemaType.KEYWORD
        await self._calls(
            lambda: self._client.create_payload_index(name, key, field_schema=schema, wait=True)
        )

    async def _switch(
        self, *steps: models.CreateAliasOperation | models.DeleteAliasOperation
    ) -> None:
        await self._calls(lambda: self._client.update_collection_aliases(steps))

    async def _delete_all(self, alias: str, *, but: str | None = None) -> None:
        found = await self._calls(self._client.get_collections)
        for name in [one.name for one in found.collections]:
            if name.startswith(f"{alias}-") and name != but:
                await self._delete(name)

    async def _delete(self, name: str) -> None:
        with suppress(MissingCollection):
            await self._calls(lambda: self._client.delete_collection(name))


def _creation(alias: str, collection: str) -> models.CreateAliasOperation:
    return models.CreateAliasOperation(
        create_alias=models.CreateAlias(collection_name=collection, alias_name=alias)
    )
