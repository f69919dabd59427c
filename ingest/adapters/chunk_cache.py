"""Chunks that were written or found lately: reading a payload takes longer than finding it."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

from ingest.documents import Chunk


class ChunkCache:
    """At most `size` chunks by shard and point; of the fullest shard the oldest go first.

    It says nothing of who may read a chunk: only points that a search has admitted are asked for.
    Points are kept as whole numbers, which hash ten times faster than a UUID.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._shards: defaultdict[str, OrderedDict[int, Chunk]] = defaultdict(OrderedDict)
        self._writes = 0

    @property
    def writes(self) -> int:
        """Grows with every write. Note it before reading what is then kept."""
        return self._writes

    @property
    def room(self) -> int:
        """How many more can be kept before one has to go."""
        return self._size - sum(map(len, list(self._shards.values())))

    def get(self, shard: str, points: Iterable[UUID]) -> dict[UUID, Chunk]:
        """Those that are kept."""
        kept = self._shards.get(shard)
        if kept is None:
            return {}
        return {point: chunk for point in points if (chunk := kept.get(point.int)) is not None}

    def keep_read(self, shard: str, chunks: Mapping[UUID, Chunk], *, as_of: int) -> None:
        """Does nothing if a write came after `as_of`: what was read may be of before it."""
        with self._lock:
            if self._writes == as_of:
                self._keep(shard, chunks)

    def keep_written(self, shard: str, chunks: Mapping[UUID, Chunk]) -> None:
        """Called once the write is done."""
        with self._lock:
            self._writes += 1
            self._keep(shard, chunks)

    def forget(self, shard: str, points: Iterable[UUID]) -> None:
        with self._lock:
            self._writes += 1
            for point in points:
                self._shards[shard].pop(point.int, None)

    def forget_shard(self, shard: str) -> None:
        with self._lock:
            self._writes += 1
            self._shards.pop(shard, None)

    def _keep(self, shard: str, chunks: Mapping[UUID, Chunk]) -> None:
        self._shards[shard].update((point.int, chunk) for point, chunk in chunks.items())
        for _ in range(-self.room):
            max(self._shards.values(), key=len).popitem(last=False)
