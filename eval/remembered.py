"""Vectors of texts that come again and again: the sentences of a base's best passages."""

from collections.abc import Sequence

import numpy as np

from ingest.ports import Embedder, Vector


class Remembered:
    """Embeds a text once. Kept in memory: 1.5 kB for each text of 384 dimensions."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vector] = {}

    async def embed(self, texts: Sequence[str]) -> Vector:
        """As Embedder.embed."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors |= dict(zip(new, await self._embedder.embed(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])
