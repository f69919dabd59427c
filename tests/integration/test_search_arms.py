"""A search by one arm alone: what the other one found is not there."""

from pathlib import Path

from ingest.filters import Filters
from ingest.fusion import Fusion
from ingest.scope import LOCAL
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder

TEXTS = {
    "both.md": "Refunds take five days.",
    "dense.md": "Refunds refund refunding money back customer.",
    "none.md": "The canteen opens at noon.",
}


async def found(corpus: OpenCorpus, fusion: Fusion, limit: int = 10) -> list[tuple[str, float]]:
    candidates = await corpus.index.search(
        LOCAL, BASE, "canteen noon", ["canteen noon"], limit=limit, filters=Filters(),
        fusion=fusion,
    )  # fmt: skip
    return [(c.chunk.metadata["source"], c.scores["fused"]) for c in candidates]


async def test_one_arm_ranks_alone(store_path: Path, embedder: HashingEmbedder) -> None:
    async with open_corpus(store_path / "crag", embedder) as corpus:
        for source, text in TEXTS.items():
            await corpus.upload(source, text)
        assert {source for source, _ in await found(corpus, "bm25")} == {"none.md"}
        dense = await found(corpus, "dense")
        assert {source for source, _ in dense} == TEXTS.keys()
        assert dense[0] == ("none.md", 1.0)
        assert dense[-1][1] == 0.0
        assert {source for source, _ in await found(corpus, "rrf")} == TEXTS.keys()
