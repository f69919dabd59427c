"""Shards of the embedded Qdrant engine: a folder for each knowledge base, opened on demand."""

import shutil
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    Modifier,
    PayloadSchemaType,
    UpdateOperation,
)

from ingest.adapters.payload import INDEXED
from ingest.documents import ID_SPACE

CLOSING_S = 10.0
"""Seconds that searches have to end before a base is deleted; each takes milliseconds."""


class EdgeShards:
    """Open shards by folder. `on_load` is told of each one that is opened again from the disk."""

    def __init__(
        self, folder: Path, dimension: int, on_load: Callable[[Path, EdgeShard], None]
    ) -> None:
        self._folder = folder
        self._dimension = dimension
        self._on_load = on_load
        self._open: dict[Path, EdgeShard] = {}
        self._opening = threading.Lock()

    def path(self, tenant: str, knowledge_base: str) -> Path:
        """A name of its own for each base, whatever stands in its name."""
        return self._folder / uuid.uuid5(ID_SPACE, f"{tenant}\x00{knowledge_base}").hex

    def get(self, path: Path, *, create: bool = False) -> EdgeShard | None:
        """None where the base has no shard and none is to be made."""
        shard = self._open.get(path)
        if shard is not None:
            return shard
        with self._opening:
            if path not in self._open:
                if (path / "edge_config.json").exists():
                    self._open[path] = _indexed(EdgeShard.load(str(path)))
                    self._on_load(path, self._open[path])
                elif create:
                    self._open[path] = self._create(path)
            return self._open.get(path)

    def is_open(self, path: Path, shard: EdgeShard) -> bool:
        return self._open.get(path) is shard

    def optimize(self) -> None:
        for shard in list(self._open.values()):
            shard.optimize()

    def drop(self, path: Path) -> None:
        """Deletes the shard and its folder."""
        with self._opening:
            shard = self._open.pop(path, None)
            if shard is not None:
                _close_when_idle(shard)
            shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        with self._opening:
            while self._open:
                _close_when_idle(self._open.popitem()[1])

    def _create(self, path: Path) -> EdgeShard:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        shard = EdgeShard.create(
            str(path),
            EdgeConfig(
                vectors={"dense": EdgeVectorParams(self._dimension, Distance.Cosine)},
                sparse_vectors={"bm25": EdgeSparseVectorParams(modifier=Modifier.Idf)},
            ),
        )
        return _indexed(shard)


def _indexed(shard: EdgeShard) -> EdgeShard:
    """With all payload indexes: the making of a shard may have been cut short."""
    for key in sorted(set(INDEXED) - shard.info().payload_schema.keys()):
        shard.update(UpdateOperation.create_field_index(key, PayloadSchemaType.Keyword))
    shard.flush()
    return shard


def _close_when_idle(shard: EdgeShard) -> None:
    """A shard cannot be closed while a search is in it; no new one finds it any more."""
    deadline = time.monotonic() + CLOSING_S
    while True:
        try:
            return shard.close()
        except RuntimeError:  # "Already borrowed"
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
