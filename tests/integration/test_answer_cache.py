"""The second of two that ask the same is answered without a search, and only then."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graph.adapters.answer_cache import MemoryAnswers, StoredAnswers
from graph.builder import build
from graph.services import Services
from ingest.access import LiveAccess
from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.memory import MemoryStore
from ingest.documents import Candidate
from ingest.errors import DependencyError
from ingest.filters import Condition, Filters
from ingest.index import Index
from ingest.records import DocumentRecord
from ingest.scope import LOCAL_MANAGER, Scope
from ingest.settings import AccessSettings
from nodes.context import Context
from nodes.ports import GradedPassages, WebResult
from nodes.state import State, Turn
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import (
    FakeChecker,
    FakeGrader,
    FakeIndex,
    FakeReranker,
    FakeWeb,
    HashingEmbedder,
    Sure,
    a_candidate,
    a_grade,
)
from tests.runs import kinds, ports, run, told_through

SAME = "Please tell me how long a refund takes after a return"
QUESTION = "How long does a refund take after a return?"
A = a_candidate("a", "Refunds take 14 days after a return.")


def cached(embedder: HashingEmbedder, **changed: Any) -> Services:
    store = MemoryAnswers(megabytes=1, ttl_s=60)
    cache = StoredAnswers(store, embedder, versions="1", similarity=-1)
    plain = {"cache": cache, "confidence": Sure(), "index": FakeIndex([A])}
    return ports(**(plain | changed))


async def ask(services: Services, question: str = QUESTION, **options: Any) -> State:
    return await run(services, question, **({"cache": True} | options))


def hit(state: State) -> bool:
    return any(e.node == "check_cache" and e.summary.get("hit") for e in state.trace)


def nodes(state: State) -> list[str]:
    return [entry.node for entry in state.trace]


@pytest.mark.parametrize("again", [QUESTION, f"  {QUESTION.upper()} ", SAME])
async def test_the_same_question_is_answered_from_the_cache(
    embedder: HashingEmbedder, again: str
) -> None:
    services = cached(embedder)
    first = await ask(services)
    second = await ask(services, again)
    assert nodes(first)[-1] == "store_answer"
    assert nodes(second) == ["contextualize_question", "check_cache"]
    assert second.trace[-1].summary["age_s"] >= 0
    told = ("draft", "supports", "confidence", "queries", "outcome", "candidates_seen", "degraded")
    assert all(getattr(first, name) == getattr(second, name) for name in told)
    assert second.spent.chat_calls == 0
    assert len(services.index.searches) == 1  # type: ignore[attr-defined]


async def test_a_hit_is_streamed_sentence_by_sentence(embedder: HashingEmbedder) -> None:
    services = cached(embedder)
    graph, context = build(services), Context(cache=True)
    state = State(question=QUESTION, knowledge_base="kb")
    first, second = [await told_through(graph, state, context) for _ in range(2)]
    assert hit(second.state)
    assert second.texts == first.texts != []


@pytest.mark.parametrize(
    "other",
    [
        {"tenant": "other"},
        {"principals": ["user:ann"]},
        {"knowledge_base": "kb2"},
        {"sentences": 1},
        {"filters": Filters([Condition("language", ["en"])])},
        {"history": [Turn("What is a return?", "Something sent back.")]},
        {"turns": [Turn("What is a return?", "Something sent back.")]},
        {"cache": False},
    ],
    ids=str,
)
async def test_who_asks_where_and_how_is_in_the_key(
    embedder: HashingEmbedder, other: dict[str, Any]
) -> None:
    services = cached(embedder)
    await ask(services)
    assert hit(await ask(services))
    assert not hit(await ask(services, **other))


async def test_groups_in_another_order_are_the_same_scope(embedder: HashingEmbedder) -> None:
    services = cached(embedder)
    await ask(services, principals=["group:a", "group:b"])
    assert hit(await ask(services, principals=["group:b", "group:a"]))
    assert not hit(await ask(services, principals=["group:a"]))


async def test_a_change_of_the_base_forgets_at_once(embedder: HashingEmbedder) -> None:
    index = FakeIndex([A])
    services = cached(embedder, index=index)
    await ask(services)
    index.state = "v2"
    assert not hit(await ask(services))
    assert hit(await ask(services))


@pytest.mark.parametrize("now", [None, "Refunds take 15 days after a return."])
async def test_a_kept_answer_is_read_again_against_its_documents(
    embedder: HashingEmbedder, now: str | None
) -> None:
    index = FakeIndex([A])
    services = cached(embedder, index=index)
    await ask(services)
    index.texts = {("doc-a", "r1"): now} if now else {}
    state = await ask(services)
    assert not hit(state)
    assert state.trace[1].summary["stale"]


async def test_what_was_near_and_is_withheld_now_is_not_shown(embedder: HashingEmbedder) -> None:
    near = a_candidate("near")
    index = FakeIndex([A, near])
    services = cached(embedder, index=index)
    await ask(services)
    assert hit(await ask(services))
    del index.texts["doc-near", "r1"]
    assert not hit(await ask(services))


@pytest.mark.parametrize(
    "changed",
    [
        {"grader": FakeGrader({"a": "ambiguous"})},
        {"grader": FakeGrader()},
        {"checker": FakeChecker("Refunds")},
        {"checker": FakeChecker(error=DependencyError("away"))},
        {"confidence": Sure(0.45)},
        {"confidence": None},
    ],
    ids=["partial", "refused", "ungrounded", "unchecked", "unsure", "uncalibrated"],
)
async def test_only_full_and_sure_answers_are_kept(
    embedder: HashingEmbedder, changed: dict[str, Any]
) -> None:
    services = cached(embedder, **changed)
    assert "store_answer" not in nodes(await ask(services))
    assert not hit(await ask(services))


async def test_a_degraded_answer_is_not_kept(embedder: HashingEmbedder) -> None:
    services = cached(embedder, reranker=FakeReranker(DependencyError("away")))
    assert "store_answer" not in nodes(await ask(services))


async def test_an_answer_from_the_web_is_not_kept(embedder: HashingEmbedder) -> None:
    page = WebResult("https://example.org/refunds", "Refunds", "Refunds take five days.")
    services = cached(embedder, grader=FakeGrader(_web_alone), web=FakeWeb([page]))
    state = await ask(services, web=True)
    assert state.outcome == "answered"
    assert [c.kind for s in state.draft for c in s.citations] == ["web"]
    assert "store_answer" not in nodes(state)
    assert not hit(await ask(services, web=True))


def _web_alone(found: Sequence[Candidate]) -> GradedPassages:
    return GradedPassages([a_grade("correct" if c.url else "incorrect") for c in found])


class Broken:
    async def find(self, key: str, question: str) -> None:
        raise DependencyError("the cache is away")

    async def keep(self, key: str, answer: Any) -> None:
        raise AssertionError("what failed once is not asked again")


async def test_a_cache_that_is_away_is_recorded_and_the_question_answered(
    embedder: HashingEmbedder,
) -> None:
    state = await ask(cached(embedder, cache=Broken()))
    assert state.outcome == "answered"
    assert kinds(state) == [("check_cache", "dependency_down")]
    assert "store_answer" not in nodes(state)


class Wiki:
    """A source system that lets anybody read all but what is `withheld`."""

    def __init__(self) -> None:
        self.withheld: set[str] = set()

    async def readable(self, scope: Scope, documents: Sequence[DocumentRecord]) -> set[str]:
        return {d.document_id for d in documents if d.source not in self.withheld}


async def delete(corpus: OpenCorpus, document: str, wiki: Wiki) -> None:
    await corpus.writer.delete_document(LOCAL_MANAGER, BASE, document)


async def replace(corpus: OpenCorpus, document: str, wiki: Wiki) -> None:
    await corpus.upload("refunds.md", "Refunds take 15 days after a return.")


async def restrict(corpus: OpenCorpus, document: str, wiki: Wiki) -> None:
    await corpus.writer.set_acl(LOCAL_MANAGER, BASE, document, ["group:hr"])


async def withhold(corpus: OpenCorpus, document: str, wiki: Wiki) -> None:
    wiki.withheld.add("refunds.md")


@pytest.mark.parametrize("change", [delete, replace, restrict, withhold])
async def test_what_changed_in_the_corpus_or_at_its_source_is_asked_anew(
    tmp_path: Path, embedder: HashingEmbedder, change: Any
) -> None:
    wiki = Wiki()
    async with open_corpus(tmp_path / "crag", embedder, MemoryStore()) as corpus:
        index = Index(
            embedder=embedder,
            sparse=Bm25Encoder(),
            store=corpus.store,
            bases=corpus.bases,
            access=LiveAccess(wiki, AccessSettings(cache_s=0)),
        )
        result = await corpus.upload("refunds.md", "Refunds take 14 days after a return.")
        grader = FakeGrader(lambda found: GradedPassages([a_grade("correct") for _ in found]))
        services = cached(embedder, index=index, grader=grader)
        asked = {"knowledge_base": BASE}
        first = await ask(services, **asked)
        assert not hit(first)
        assert "14 days" in first.draft[0].text
        assert hit(await ask(services, **asked))
        await change(corpus, str(result.document_id), wiki)
        after = await ask(services, **asked)
        assert not hit(after)
        assert all("14 days" not in sentence.text for sentence in after.draft)
