"""A search by one arm alone: what the other one found is not there."""

from pathlib import Path
from typing import Any, get_args

from ingest.filters import Filters
from ingest.fusion import Fusion, Merge
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


async def test_a_made_up_passage_searches_by_its_vector_alone(
    store_path: Path, embedder: HashingEmbedder
) -> None:
    """Its words are not looked for: by BM25 the question finds what it found before."""
    async with open_corpus(store_path / "crag", embedder) as corpus:
        for source, text in TEXTS.items():
            await corpus.upload(source, text)
        asked: Any = (LOCAL, BASE, "canteen noon", ["canteen noon"])
        plain = {"limit": 1, "filters": Filters()}
        before = await corpus.index.search(*asked, **plain)
        more = await corpus.index.search(*asked, **plain, made_up=["Refunds take five days."])
        assert {c.chunk.metadata["source"] for c in more} == {"none.md", "both.md"}
        by_words = await corpus.index.search(
            *asked, **plain, fusion="bm25", made_up=["Refunds take five days."]
        )
        assert [c.chunk for c in by_words] == [c.chunk for c in before]
        refunds = next(c for c in more if c.chunk.metadata["source"] == "both.md")
        assert refunds.scores["bm25"] == 0 and refunds.queries == ["canteen noon"]


async def test_votes_put_what_most_queries_find_first(
    store_path: Path, embedder: HashingEmbedder
) -> None:
    """By best score the winner of one query is level with the winner of two; by votes it is not."""
    queries = ["canteen noon", "refunding", "refunds refunding money"]
    async with open_corpus(store_path / "crag", embedder) as corpus:
        for source, text in TEXTS.items():
            await corpus.upload(source, text)
        asked: Any = (LOCAL, BASE, queries[0], queries)
        best, votes = [
            await corpus.index.search(*asked, limit=10, filters=Filters(), merge=merge)
            for merge in get_args(Merge)
        ]
        tops = {c.chunk.metadata["source"]: c.scores["fused"] for c in best}
        assert tops["none.md"] == tops["dense.md"] == 1.0
        assert votes[0].chunk.metadata["source"] == "dense.md"
        assert votes[0].scores["fused"] > votes[1].scores["fused"]
