"""The source system's own word: asked in time, remembered shortly, and closed when it fails."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from ingest.access import LiveAccess, open_access
from ingest.adapters.memory import MemoryStore
from ingest.errors import ConfigurationError, DependencyError, NotFound
from ingest.filters import Filters
from ingest.index import Index
from ingest.ports import DocumentRecord
from ingest.scope import LOCAL, Scope
from ingest.settings import AccessSettings
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder


class Source:
    """Lets everyone read all but `closed`; `answer` is given in its place, or raised."""

    def __init__(self, settings: AccessSettings | None = None) -> None:
        self.closed: set[str] = set()
        self.answer: Any = None
        self.hangs = False
        self.asked: list[tuple[Scope, list[str]]] = []

    async def readable(self, scope: Scope, documents: Any) -> Any:
        self.asked.append((scope, [d.document_id for d in documents]))
        if self.hangs:
            await asyncio.sleep(30)
        if isinstance(self.answer, BaseException):
            raise self.answer
        if self.answer is not None:
            return self.answer
        return {d.document_id for d in documents} - self.closed


class OnlySync:
    def __init__(self, settings: AccessSettings) -> None: ...

    def readable(self, scope: Scope, documents: Any) -> set[str]:
        return set()


class Broken:
    def __init__(self, settings: AccessSettings) -> None:
        raise RuntimeError("no network")


def records(*ids: str) -> list[DocumentRecord]:
    return [DocumentRecord(i, f"{i}.md", i, "1", i, "text/plain", 1, "2026-01-01") for i in ids]


def live(source: Source, now: list[float] | None = None, **settings: Any) -> LiveAccess:
    clock = now or [0.0]
    return LiveAccess(source, AccessSettings(**settings), clock=lambda: clock[0])


async def test_a_decision_holds_for_its_time_and_for_its_scope() -> None:
    source, now = Source(), [0.0]
    access = live(source, now, cache_s=30)
    source.closed = {"b"}
    assert await access.readable(LOCAL, records("a", "b")) == {"a"}
    source.closed = {"a"}
    now[0] = 29.0
    assert await access.readable(LOCAL, records("a", "b")) == {"a"}
    assert await access.readable(Scope("local", ["user:x"]), records("a")) == set()
    assert await access.readable(Scope("other"), records("a")) == set()
    now[0] = 31.0
    assert await access.readable(LOCAL, records("a", "b")) == {"b"}
    assert [len(ids) for _, ids in source.asked] == [2, 1, 1, 2]


async def test_only_what_is_not_remembered_is_asked() -> None:
    source = Source()
    access = live(source)
    await access.readable(LOCAL, records("a"))
    await access.readable(LOCAL, records("a", "b"))
    assert [ids for _, ids in source.asked] == [["a"], ["b"]]
    assert await access.readable(LOCAL, []) == set()


@pytest.mark.parametrize(
    "answer", [RuntimeError("down"), OSError(), TimeoutError(), "ab", 7, [1], {"a": 1, 2: 3}]
)
async def test_anything_but_a_clear_answer_closes(answer: Any) -> None:
    source = Source()
    source.answer = answer
    access = live(source)
    with pytest.raises(DependencyError):
        await access.readable(LOCAL, records("a"))
    source.answer = None
    assert await access.readable(LOCAL, records("a")) == {"a"}


async def test_a_resolver_that_hangs_closes_by_its_deadline() -> None:
    source = Source()
    source.hangs = True
    with pytest.raises(DependencyError):
        await asyncio.wait_for(live(source, timeout_s=0.05).readable(LOCAL, records("a")), 2)


async def test_a_resolver_opens_nothing_that_was_not_asked() -> None:
    source = Source()
    source.answer = ["a", "z"]
    assert await live(source).readable(LOCAL, records("a")) == {"a"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tests.unit.test_access_resolver:Nothing", "cannot load"),
        ("tests.unit.test_access_resolver:OnlySync", "no `async def readable`"),
        ("tests.unit.test_access_resolver:Broken", "RuntimeError: no network"),
    ],
)
def test_a_class_that_cannot_be_used_stops_the_start(name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        open_access(AccessSettings(resolver=name))


def test_none_is_asked_by_default_and_a_class_by_name() -> None:
    assert open_access(AccessSettings()) is None
    name = "tests.unit.test_access_resolver:Source"
    assert isinstance(open_access(AccessSettings(resolver=name)), LiveAccess)


# Over a real index


@pytest.fixture
async def corpus(tmp_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(tmp_path / "crag", embedder, MemoryStore()) as corpus:
        await corpus.upload("a.md", "# A\n\nRefunds are paid in March.\n")
        await corpus.upload("b.md", "# B\n\nRefunds are paid in April.\n")
        yield corpus


async def test_search_and_citations_follow_the_source(
    corpus: OpenCorpus, embedder: HashingEmbedder
) -> None:
    source = Source()
    index = index_with(corpus, embedder, live(source, cache_s=0))
    a, b = await corpus.index.documents(LOCAL, BASE)
    assert await found(index) == {"a.md", "b.md"}
    source.closed = {a.document_id}
    assert await found(index) == {"b.md"}
    assert await index.text(LOCAL, BASE, a.document_id, a.revision) is None
    assert await index.text(LOCAL, BASE, b.document_id, b.revision) is not None
    with pytest.raises(NotFound):
        await index.document(LOCAL, BASE, a.document_id)


async def test_nothing_is_shown_while_the_source_is_away(
    corpus: OpenCorpus, embedder: HashingEmbedder
) -> None:
    source = Source()
    source.answer = OSError("away")
    index = index_with(corpus, embedder, live(source))
    a, _ = await corpus.index.documents(LOCAL, BASE)
    for shown in (
        found(index),
        index.text(LOCAL, BASE, a.document_id, a.revision),
        index.document(LOCAL, BASE, a.document_id),
    ):
        with pytest.raises(DependencyError):
            await shown


def index_with(corpus: OpenCorpus, embedder: HashingEmbedder, access: LiveAccess) -> Index:
    from ingest.adapters.bm25 import Bm25Encoder

    return Index(
        embedder=embedder,
        sparse=Bm25Encoder(),
        store=corpus.store,
        bases=corpus.bases,
        access=access,
    )


async def found(index: Index) -> set[str]:
    question = "When are refunds paid?"
    hits = await index.search(LOCAL, BASE, question, [question], limit=10, filters=Filters())
    return {hit.chunk.metadata["source"] for hit in hits}
