"""BM25 term weights as sparse vectors; the store multiplies in the inverse document frequency."""

from qdrant_edge import Bm25, Bm25Config

from ingest.ports import SparseVector

K1 = 1.2
B = 0.75
AVERAGE_TOKENS = 120.0
"""Words that a chunk is taken to have; a round guess below the 210 model tokens it may have."""


class Bm25Encoder:
    """Robertson and Zaragoza's BM25 (2009), English stems and stop words, accents folded."""

    fingerprint = f"bm25-en-k{K1}-b{B}-l{AVERAGE_TOKENS:.0f}"

    def __init__(self) -> None:
        self._bm25 = Bm25(
            Bm25Config(k=K1, b=B, avg_len=AVERAGE_TOKENS, language="english", ascii_folding=True)
        )

    def document(self, text: str) -> SparseVector:
        encoded = self._bm25.embed_document(text)
        return SparseVector(list(encoded.indices), list(encoded.values))

    def query(self, text: str) -> SparseVector:
        encoded = self._bm25.embed_query(text)
        return SparseVector(list(encoded.indices), list(encoded.values))
