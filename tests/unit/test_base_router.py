"""Three small bases: a question goes where descriptions, examples and titles say."""

from typing import Any

import pytest

from graph.adapters.base_router import BaseRouter, profile, read_titles, title_shares
from ingest.ports import KnowledgeBase
from ingest.records import DocumentRecord
from ingest.scope import LOCAL
from nodes.route_question import surest
from tests.fakes import HashingEmbedder

BASES = {
    "hr": KnowledgeBase(
        "hr", "Rules for people at work: leave, wages, holidays", "", "", "",
        examples=["How many weeks of parental leave are paid?"],
    ),
    "it": KnowledgeBase("it", "Laptops, accounts and networks", "", "", ""),
    "shop": KnowledgeBase("shop-orders_2026", "", "", "", ""),
}  # fmt: skip
TITLES = {
    "hr": ["Parental leave", "Holidays", "Sickness"],
    "it": ["VPN access", "Error E-4102 of the tunnel", "Passwords"],
    "shop": ["Refund policy", "Shipping FAQ"],
}
QUESTIONS = {
    "How many weeks of leave are paid after a birth?": "hr",
    "What does error E-4102 mean?": "it",
    "What is the refund policy?": "shop",
}


class Corpus:
    """The bases by name, with a document for each title; counts how often they were read."""

    def __init__(self) -> None:
        self.reads = 0
        self.state = "1"

    async def bases(self, scope: Any) -> list[KnowledgeBase]:
        return [KnowledgeBase(name, b.description, "", "", "", examples=b.examples)
                for name, b in BASES.items()]  # fmt: skip

    async def version(self, scope: Any, name: str) -> str:
        return self.state

    async def documents(self, scope: Any, name: str) -> list[DocumentRecord]:
        self.reads += 1
        return documents(TITLES[name])


def documents(titles: list[str]) -> list[DocumentRecord]:
    return [DocumentRecord(t, t, t, "r", "", "text/plain", 1, "") for t in titles]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_question_goes_to_its_base(question: str, embedder: HashingEmbedder) -> None:
    corpus = Corpus()
    scores = await BaseRouter(embedder, corpus, corpus).scores(LOCAL, question, list(BASES))
    assert surest(dict(scores), 0.1) == [QUESTIONS[question]]


async def test_titles_are_read_once_for_a_version_and_a_scope(embedder: HashingEmbedder) -> None:
    corpus = Corpus()
    router = BaseRouter(embedder, corpus, corpus)
    for _ in range(3):
        await router.scores(LOCAL, "refunds", ["shop", "hr"])
    assert corpus.reads == 2
    corpus.state = "2"
    await router.scores(LOCAL, "refunds", ["shop"])
    assert corpus.reads == 3


async def test_a_base_that_is_not_readable_has_no_score(embedder: HashingEmbedder) -> None:
    corpus = Corpus()
    scores = await BaseRouter(embedder, corpus, corpus).scores(LOCAL, "refunds", ["shop", "law"])
    assert scores.keys() == {"shop"}


def test_a_base_without_words_of_its_own_is_known_by_its_name() -> None:
    assert profile(BASES["shop"]) == ["shop orders 2026"]
    assert len(profile(BASES["hr"])) == 2


def test_the_share_is_in_0_to_1_and_0_without_a_shared_term() -> None:
    """By hand, three titles of one term each, `refund` in one: BM25 of the title over its most is
    1 / (1 + K1) = .4545, all lengths being the mean."""
    titles = {"a": read_titles(documents(["Refund"])),
        "b": read_titles(documents(["Leave", "Error"]))}  # fmt: skip
    assert title_shares("refund", titles) == {"a": pytest.approx(1 / 2.2), "b": 0.0}
    assert title_shares("the", titles) == {"a": 0.0, "b": 0.0}
