"""A collection that is filled beside the one that is searched, and then takes over its alias."""

from qdrant_client import AsyncQdrantClient

from ingest.adapters.qdrant_server import QdrantServerStore
from ingest.ports import ChunkStore, Encoders
from ingest.settings import QdrantSettings


class QdrantServerDraft(QdrantServerStore):
    """A DraftStore under an alias of its own."""

    def __init__(
        self, client: AsyncQdrantClient, settings: QdrantSettings, encoders: Encoders
    ) -> None:
        super().__init__(client, settings, encoders, draft=True)

    async def took_place(self, tenant: str, knowledge_base: str) -> bool:
        return await self._collections.is_published(self._collections.alias(tenant, knowledge_base))

    async def take_place(self, live: ChunkStore, tenant: str, knowledge_base: str) -> None:
        """In one step: a search meets the old or the new."""
        await self._collections.publish(self._collections.alias(tenant, knowledge_base))
