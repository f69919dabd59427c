"""Documents in and out of a real index: a reader sees the old or the new, never both or neither."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from ingest.adapters.memory import MemoryStore
from ingest.errors import (
    DependencyError,
    EmbedderMismatch,
    InvalidRequest,
    NotFound,
    UnknownKnowledgeBase,
)
from ingest.filters import Condition, Filters
from ingest.ports import StoredChunk
from ingest.scope import LOCAL, Scope
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder

OLD = "# Refunds\n\nRefunds are paid within thirty days of the return.\n"
NEW = "# Refunds\n\nRefunds are paid within five days of the return.\n"
QUESTION = "refunds paid return"


@pytest.fixture
async def corpus(store_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(store_path / "crag", embedder) as corpus:
        yield corpus


async def test_uploading_again_does_not_grow_the_chunks(corpus: OpenCorpus) -> None:
    first = await corpus.upload("refunds.md", OLD)
    chunks = await corpus.chunks()
    for _ in range(2):
        again = await corpus.upload("refunds.md", OLD)
        assert (again.state, again.document_id) == ("unchanged", first.document_id)
    assert await corpus.chunks() == chunks == first.chunks


async def test_a_change_replaces_the_chunks(corpus: OpenCorpus) -> None:
    await corpus.upload("refunds.md", OLD + "\n\nMore.\n" * 40)
    changed = await corpus.upload("refunds.md", NEW)
    assert changed.state == "updated"
    assert await corpus.chunks() == changed.chunks
    assert ["thirty" in c.chunk.text for c in await corpus.found(QUESTION)] == [False]


async def test_going_back_to_earlier_content_works(corpus: OpenCorpus) -> None:
    for text in (OLD, NEW, OLD):
        result = await corpus.upload("refunds.md", text)
    assert await corpus.chunks() == result.chunks
    (found,) = await corpus.found(QUESTION)
    assert "thirty" in found.chunk.text
    chunk = found.chunk
    stored = await corpus.index.text(LOCAL, BASE, chunk.document_id, chunk.revision)
    assert stored is not None
    assert stored[chunk.start : chunk.end] == chunk.text


async def test_a_reader_never_sees_a_mix_or_nothing(corpus: OpenCorpus) -> None:
    versions = [f"# Rules\n\nThe rule number{n} says return.\n" for n in range(8)]
    await corpus.upload("rules.md", versions[0])
    done = asyncio.Event()

    async def poll() -> int:
        polls = 0
        while not done.is_set():
            found = await corpus.found("the rule says return")
            assert len({c.chunk.revision for c in found}) == 1
            polls += 1
        return polls

    async def replace() -> None:
        for text in versions[1:]:
            await corpus.upload("rules.md", text)
        done.set()

    first, second, _ = await asyncio.gather(poll(), poll(), replace())
    assert first + second > len(versions)


async def test_a_deleted_document_stops_answering_at_once(corpus: OpenCorpus) -> None:
    result = await corpus.upload("refunds.md", OLD)
    (found,) = await corpus.found(QUESTION)
    version = await corpus.index.version(LOCAL, BASE)
    await corpus.delete("refunds.md")
    assert await corpus.found(QUESTION) == []
    assert await corpus.chunks() == 0
    document = str(result.document_id)
    assert await corpus.index.text(LOCAL, BASE, document, found.chunk.revision) is None
    with pytest.raises(NotFound):
        await corpus.index.document(LOCAL, BASE, document)
    with pytest.raises(NotFound):
        await corpus.writer.delete_document(LOCAL, BASE, document)
    assert await corpus.index.version(LOCAL, BASE) != version


async def test_the_same_bytes_under_a_new_name_are_an_alias(corpus: OpenCorpus) -> None:
    first = await corpus.upload("refunds.md", OLD)
    copy = await corpus.upload("copy.md", OLD)
    assert (copy.state, copy.duplicate_of) == ("added", first.document_id)
    assert await corpus.sources(QUESTION) == ["refunds.md"]
    assert [d.source for d in await corpus.index.documents(LOCAL, BASE)] == [
        "copy.md",
        "refunds.md",
    ]


async def test_an_alias_answers_when_the_original_is_deleted(corpus: OpenCorpus) -> None:
    await corpus.upload("refunds.md", OLD)
    await corpus.upload("copy.md", OLD)
    await corpus.delete("refunds.md")
    assert await corpus.sources(QUESTION) == ["copy.md"]


async def test_an_alias_answers_when_the_original_says_something_else(corpus: OpenCorpus) -> None:
    await corpus.upload("refunds.md", OLD)
    await corpus.upload("copy.md", OLD)
    await corpus.upload("refunds.md", NEW)
    assert sorted(await corpus.sources(QUESTION)) == ["copy.md", "refunds.md"]


async def test_an_alias_that_changes_is_a_document_of_its_own(corpus: OpenCorpus) -> None:
    await corpus.upload("refunds.md", OLD)
    await corpus.upload("copy.md", OLD)
    changed = await corpus.upload("copy.md", NEW)
    assert changed.duplicate_of is None
    assert sorted(await corpus.sources(QUESTION)) == ["copy.md", "refunds.md"]


def marked(text: str, **front: str) -> str:
    return "---\n" + "".join(f"{k}: {v}\n" for k, v in front.items()) + f"---\n{text}"


async def test_a_document_that_is_superseded_is_marked(corpus: OpenCorpus) -> None:
    await corpus.upload("policies/old.md", OLD)
    await corpus.upload("policies/new.md", marked(NEW, supersedes="old.md"))
    found = [c.chunk.metadata for c in await corpus.found(QUESTION)]
    status = {metadata["source"]: metadata["status"] for metadata in found}
    assert status == {"policies/old.md": "superseded", "policies/new.md": "current"}


async def test_filters_meet_the_status_that_is_shown(corpus: OpenCorpus) -> None:
    await corpus.upload("old.md", OLD)
    await corpus.upload("new.md", marked(NEW, supersedes="old.md"))
    await corpus.upload("draft.md", marked(OLD + "Draft.", status="draft", supersedes="new.md"))

    async def found(*values: str, exclude: bool = False) -> list[str]:
        filters = Filters([Condition("status", list(values), exclude)])
        return sorted(await corpus.sources(QUESTION, filters))

    assert await found("superseded", "draft", exclude=True) == ["new.md"]
    assert await found("current") == ["new.md"]
    assert await found("superseded") == ["old.md"]
    assert await found("current", exclude=True) == ["draft.md", "old.md"]


async def test_deleting_the_newer_document_brings_the_old_one_back(corpus: OpenCorpus) -> None:
    await corpus.upload("old.md", OLD)
    await corpus.upload("new.md", marked(NEW, supersedes="old.md"))
    await corpus.delete("new.md")
    (found,) = await corpus.found(QUESTION)
    assert found.chunk.metadata["status"] == "current"


async def test_a_current_copy_is_not_hidden_behind_a_superseded_original(
    corpus: OpenCorpus,
) -> None:
    await corpus.upload("2023/refunds.md", OLD)
    await corpus.upload("2024/refunds.md", OLD)
    await corpus.upload("index.md", marked("# Index\n\nNothing.\n", supersedes="2023/refunds.md"))
    current = Filters([Condition("status", ["superseded", "draft"], exclude=True)])
    assert "2024/refunds.md" in await corpus.sources(QUESTION, current)


async def test_the_version_is_the_same_for_the_same_content(
    store_path: Path, corpus: OpenCorpus, embedder: HashingEmbedder
) -> None:
    await corpus.upload("a.md", OLD)
    before = await corpus.index.version(LOCAL, BASE)
    await corpus.upload("b.md", NEW)
    assert await corpus.index.version(LOCAL, BASE) != before
    await corpus.delete("b.md")
    assert await corpus.index.version(LOCAL, BASE) == before
    async with open_corpus(store_path / "elsewhere", embedder) as other:
        await other.upload("a.md", OLD)
        assert await other.index.version(LOCAL, BASE) == before


async def test_scores_are_against_the_question_whichever_query_found_it(
    corpus: OpenCorpus,
) -> None:
    await corpus.upload("a.md", OLD)
    (alone,) = await corpus.index.search(
        LOCAL, BASE, "refunds", ["refunds"], limit=5, filters=Filters()
    )
    both = await corpus.index.search(
        LOCAL, BASE, "refunds", ["thirty days", "refunds"], limit=5, filters=Filters()
    )
    assert both[0].queries == ["thirty days", "refunds"]
    assert both[0].scores["dense"] == pytest.approx(alone.scores["dense"], abs=1e-5)
    assert both[0].scores["bm25"] == pytest.approx(alone.scores["bm25"], abs=1e-5)


async def test_scores_do_not_depend_on_what_was_deleted(corpus: OpenCorpus) -> None:
    await corpus.upload("a.md", OLD)
    (before,) = await corpus.found("refunds thirty")
    for n in range(5):
        await corpus.upload(f"{n}.md", f"# Refunds\n\nRefunds number{n} thirty.\n")
    for n in range(5):
        await corpus.delete(f"{n}.md")
    (after,) = await corpus.found("refunds thirty")
    assert after.scores == pytest.approx(before.scores, abs=1e-5)


@pytest.mark.parametrize("name", ["", "A", "../x", "a b", "a" * 64, "-a", "ä", "a\n"])
async def test_a_bad_name_of_a_base_is_refused(corpus: OpenCorpus, name: str) -> None:
    with pytest.raises(InvalidRequest):
        await corpus.writer.create_knowledge_base(LOCAL, name)


async def test_a_deleted_base_is_gone_and_can_be_made_again(corpus: OpenCorpus) -> None:
    await corpus.upload("a.md", OLD)
    await corpus.writer.delete_knowledge_base(LOCAL, BASE)
    with pytest.raises(UnknownKnowledgeBase):
        await corpus.found(QUESTION)
    with pytest.raises(UnknownKnowledgeBase):
        await corpus.writer.delete_knowledge_base(LOCAL, BASE)
    await corpus.writer.create_knowledge_base(LOCAL, BASE)
    assert await corpus.found(QUESTION) == []
    assert (await corpus.upload("a.md", OLD)).state == "added"


async def test_another_tenant_has_none_of_it(corpus: OpenCorpus) -> None:
    await corpus.upload("a.md", OLD)
    with pytest.raises(UnknownKnowledgeBase):
        await corpus.index.search(
            Scope("other"), BASE, QUESTION, [QUESTION], limit=5, filters=Filters()
        )


async def test_the_same_upload_twice_at_once_is_one_document(corpus: OpenCorpus) -> None:
    results = await asyncio.gather(*(corpus.upload("a.md", OLD) for _ in range(4)))
    assert len({r.document_id for r in results}) == 1
    assert await corpus.chunks() == results[0].chunks
    assert corpus.records.unfinished() == []


class FailingStore(MemoryStore):
    """Fails its next writes or deletes while `failing` names them."""

    failing = ""

    async def upsert(self, chunks: Sequence[StoredChunk]) -> None:
        if self.failing == "upsert":
            raise DependencyError("disk full")
        await super().upsert(chunks)

    async def delete_revision(self, *place: str) -> None:
        if self.failing == "delete":
            raise DependencyError("disk full")
        await super().delete_revision(*place)

    async def delete_knowledge_base(self, *place: str) -> None:
        if self.failing == "delete":
            raise DependencyError("disk full")
        await super().delete_knowledge_base(*place)


@pytest.fixture
async def failing(
    store_path: Path, embedder: HashingEmbedder
) -> AsyncIterator[tuple[OpenCorpus, FailingStore]]:
    store = FailingStore()
    async with open_corpus(store_path / "crag", embedder, store) as corpus:
        yield corpus, store


async def test_a_write_that_fails_leaves_the_old_answering(
    failing: tuple[OpenCorpus, FailingStore],
) -> None:
    corpus, store = failing
    await corpus.upload("a.md", OLD)
    store.failing = "upsert"
    with pytest.raises(DependencyError):
        await corpus.upload("a.md", NEW)
    assert ["thirty" in c.chunk.text for c in await corpus.found(QUESTION)] == [True]
    store.failing = ""
    assert (await corpus.upload("a.md", NEW)).state == "updated"
    await corpus.writer.recover()
    assert ["five" in c.chunk.text for c in await corpus.found(QUESTION)] == [True]


async def test_writing_a_live_document_again_cannot_lose_it(
    failing: tuple[OpenCorpus, FailingStore],
) -> None:
    corpus, _ = failing
    await corpus.upload("a.md", OLD)
    live = (await corpus.index.documents(LOCAL, BASE))[0]
    corpus.records.begin_revision(LOCAL.tenant, BASE, live)  # a second upload that then failed
    await corpus.writer.recover()
    assert await corpus.sources(QUESTION) == ["a.md"]


async def test_a_delete_that_fails_in_the_store_is_finished_later(
    failing: tuple[OpenCorpus, FailingStore],
) -> None:
    corpus, store = failing
    await corpus.upload("a.md", OLD)
    store.failing = "delete"
    with pytest.raises(DependencyError):
        await corpus.delete("a.md")
    assert await corpus.found(QUESTION) == []
    assert await corpus.chunks() == 1
    store.failing = ""
    assert await corpus.writer.recover() == 1
    assert await corpus.chunks() == 0


async def test_a_base_whose_chunks_could_not_be_deleted_is_swept_later(
    failing: tuple[OpenCorpus, FailingStore],
) -> None:
    corpus, store = failing
    await corpus.upload("a.md", OLD)
    store.failing = "delete"
    with pytest.raises(DependencyError):
        await corpus.writer.delete_knowledge_base(LOCAL, BASE)
    store.failing = ""
    await corpus.writer.recover()
    assert await corpus.chunks() == 0


async def test_a_folder_of_another_embedder_is_refused_at_once(store_path: Path) -> None:
    async with open_corpus(store_path / "crag", HashingEmbedder()) as corpus:
        await corpus.upload("a.md", OLD)
    with pytest.raises(EmbedderMismatch, match="hashing") as error:
        async with open_corpus(store_path / "crag", HashingEmbedder(fingerprint="other")):
            pass
    assert "crag kb reembed kb" in str(error.value)
    async with open_corpus(store_path / "crag", HashingEmbedder()) as corpus:
        assert await corpus.sources(QUESTION) == ["a.md"]
