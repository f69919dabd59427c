"""Shards of the embedded engine that are made beside the live ones and then take their place."""

import os
import shutil
from pathlib import Path

from ingest.adapters.qdrant_edge import QdrantEdgeStore
from ingest.ports import ChunkStore


class QdrantEdgeDraft(QdrantEdgeStore):
    """A DraftStore beside the folder of the live store; a second one takes up its work."""

    def __init__(self, live_folder: Path, dimension: int) -> None:
        super().__init__(live_folder.with_name(f"{live_folder.name}-draft"), dimension)
        self._live_folder = live_folder

    async def took_place(self, tenant: str, knowledge_base: str) -> bool:
        """A shard does not name its embedder: embedding twice does no harm."""
        return False

    async def take_place(self, live: ChunkStore, tenant: str, knowledge_base: str) -> None:
        """A crash after the old shard is gone leaves the draft whole: `reembed` goes on there."""
        await self._run(self._shards.close)
        await live.delete_knowledge_base(tenant, knowledge_base)
        await self._run(lambda: self._move(self._shards.path(tenant, knowledge_base)))

    def _move(self, shard: Path) -> None:
        if shard.exists():  # a base without passages has none
            os.replace(shard, self._live_folder / shard.name)
        shutil.rmtree(self._folder, ignore_errors=True)
