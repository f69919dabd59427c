"""Access lists over a real index: at ingestion, when they change, and changes cut short."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.adapters.memory import MemoryStore
from ingest.errors import DependencyError, InvalidRequest, NotFound, UnknownKnowledgeBase
from ingest.filters import Filters
from ingest.pipeline import FileResult, ingest_upload
from ingest.scope import LOCAL, LOCAL_MANAGER, Scope
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder

HR = Scope("local", ["user:ann", "group:hr"])
IT = Scope("local", ["user:bob", "group:it"])
TEXT = "# Pay\n\nSalaries are paid on the first of the month.\n"


@pytest.fixture
async def corpus(tmp_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(tmp_path / "crag", embedder, MemoryStore()) as corpus:
        yield corpus


async def upload(
    corpus: OpenCorpus, source: str, text: str = TEXT, acl: list[str] | None = None
) -> FileResult:
    return await ingest_upload(
        source,
        text.encode(),
        scope=LOCAL_MANAGER,
        knowledge_base=BASE,
        index=corpus.index,
        writer=corpus.writer,
        acl=acl,
    )


async def sees(corpus: OpenCorpus, scope: Scope) -> list[str]:
    """The sources that a scope finds; what it lists and reads must be the same."""
    question = "When are salaries paid?"
    found = await corpus.index.search(
        scope, BASE, question, [question, "salaries"], limit=10, filters=Filters()
    )
    sources = sorted({c.chunk.metadata["source"] for c in found})
    listed = {d.source: d for d in await corpus.index.documents(scope, BASE)}
    assert sorted(listed) == sources
    for document in await corpus.index.documents(LOCAL_MANAGER, BASE):
        place = (scope, BASE, document.document_id)
        text = await corpus.index.text(*place, document.revision)
        assert (text is not None) == (document.source in listed)
        if document.source not in listed:
            with pytest.raises(NotFound):
                await corpus.index.document(*place)
    return sources


async def test_a_document_is_found_by_those_whom_it_admits(corpus: OpenCorpus) -> None:
    await upload(corpus, "hr.md", TEXT + "For HR.", ["group:hr"])
    await upload(corpus, "both.md", TEXT + "For both.", ["group:hr", "user:bob"])
    await upload(corpus, "all.md", TEXT + "For all.")
    assert await sees(corpus, HR) == ["all.md", "both.md", "hr.md"]
    assert await sees(corpus, IT) == ["all.md", "both.md"]
    assert await sees(corpus, LOCAL) == ["all.md"]
    assert len(await corpus.index.documents(LOCAL_MANAGER, BASE)) == 3


async def test_a_change_holds_at_once_both_ways(corpus: OpenCorpus) -> None:
    result = await upload(corpus, "a.md")
    assert await sees(corpus, LOCAL) == ["a.md"]
    versions = {await corpus.index.version(LOCAL, BASE)}
    for acl, hr, it, all_ in [
        (["group:hr"], 1, 0, 0),
        (["group:it"], 0, 1, 0),
        (["group:it", "group:hr"], 1, 1, 0),
        (["*"], 1, 1, 1),
    ]:
        await corpus.writer.set_acl(LOCAL_MANAGER, BASE, str(result.document_id), acl)
        seen = [await sees(corpus, scope) for scope in (HR, IT, LOCAL)]
        assert [len(one) for one in seen] == [hr, it, all_]
        versions.add(await corpus.index.version(LOCAL, BASE))
    assert len(versions) == 4  # "*" is as at first
    with pytest.raises(InvalidRequest):
        await corpus.writer.set_acl(LOCAL_MANAGER, BASE, str(result.document_id), ["hr"])
    with pytest.raises(NotFound):
        await corpus.writer.set_acl(LOCAL_MANAGER, BASE, "x' || true", ["*"])


async def test_a_list_stays_when_the_document_is_ingested_again(corpus: OpenCorpus) -> None:
    await upload(corpus, "a.md", TEXT, ["group:hr"])
    assert (await upload(corpus, "a.md", TEXT)).state == "unchanged"
    assert (await upload(corpus, "a.md", TEXT + "More.")).state == "updated"
    assert (await sees(corpus, HR), await sees(corpus, LOCAL)) == (["a.md"], [])
    assert (await upload(corpus, "a.md", TEXT + "More.", ["*"])).state == "updated"
    assert await sees(corpus, LOCAL) == ["a.md"]


async def test_a_document_can_narrow_its_list_and_not_widen_it(corpus: OpenCorpus) -> None:
    def text(acl: str) -> str:
        return f"---\nacl: {acl}\n---\n{TEXT}"

    await upload(corpus, "own.md", text("group:hr"))
    await upload(corpus, "open.md", text("'*'") + "x", ["group:hr"])
    await upload(corpus, "none.md", text("group:it") + "y", ["group:hr"])
    failed = await upload(corpus, "bad.md", text("hr"))
    assert (failed.state, failed.code) == ("failed", "invalid_acl")
    assert await sees(corpus, HR) == ["open.md", "own.md"]
    assert await sees(corpus, IT) == []
    own = next(d for d in await corpus.index.documents(LOCAL_MANAGER, BASE) if d.source == "own.md")
    await corpus.writer.set_acl(LOCAL_MANAGER, BASE, own.document_id, ["*"])
    assert await sees(corpus, LOCAL) == []
    await upload(corpus, "own.md", TEXT)
    assert await sees(corpus, LOCAL) == ["own.md"]


async def test_the_same_bytes_answer_under_the_name_that_may_be_read(corpus: OpenCorpus) -> None:
    await upload(corpus, "hr.md", TEXT, ["group:hr"])
    copy = await upload(corpus, "it.md", TEXT, ["group:it"])
    assert copy.duplicate_of is not None
    in_hr, in_it = Scope("local", ["group:hr"]), Scope("local", ["group:it"])
    assert await sees(corpus, in_hr) == ["hr.md"]
    assert await sees(corpus, in_it) == ["it.md"]
    (mine,) = await corpus.index.documents(in_it, BASE)
    assert (mine.duplicate_of, mine.acl) == (None, ["group:it"])


async def test_a_base_that_may_not_be_read_is_not_there(corpus: OpenCorpus) -> None:
    await upload(corpus, "a.md")
    await corpus.writer.set_base_acl(LOCAL_MANAGER, BASE, ["group:hr"])
    assert await sees(corpus, HR) == ["a.md"]
    with pytest.raises(UnknownKnowledgeBase) as forbidden:
        await sees(corpus, IT)
    with pytest.raises(UnknownKnowledgeBase) as unknown:
        await corpus.index.documents(IT, "kc")
    assert str(forbidden.value).replace(BASE, "kc") == str(unknown.value)
    assert await corpus.bases.bases(IT) == []
    assert [base.name for base in await corpus.bases.bases(LOCAL_MANAGER)] == [BASE]


@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize(
    ("old", "new"),
    [(["*"], ["group:hr"]), (["group:hr"], ["*"]), (["group:hr"], ["group:it"])],
)
async def test_a_change_that_was_cut_short_admits_only_whom_both_admit(
    corpus: OpenCorpus,
    monkeypatch: pytest.MonkeyPatch,
    step: int,
    old: list[str],
    new: list[str],
) -> None:
    result = await upload(corpus, "a.md", TEXT, old)
    document = str(result.document_id)
    done = 0

    def cut(target: Any, name: str) -> None:
        whole = getattr(target, name)

        def wrapped(*what: Any) -> Any:
            nonlocal done
            if done == step:
                raise DependencyError("cut short")
            done += 1
            return whole(*what)

        monkeypatch.setattr(target, name, wrapped)

    cut(corpus.records, "set_document_acl")
    cut(corpus.store, "set_acl")
    with pytest.raises(DependencyError):
        await corpus.writer.set_acl(LOCAL_MANAGER, BASE, document, new)
    for scope in (HR, IT, LOCAL):
        if await sees(corpus, scope):
            before, after = (scope.may_read(acl) for acl in (old, new))
            assert (before and after) if step else before
    monkeypatch.undo()
    await corpus.writer.set_acl(LOCAL_MANAGER, BASE, document, new)
    for scope in (HR, IT, LOCAL):
        assert bool(await sees(corpus, scope)) == scope.may_read(new)


async def test_a_payload_that_is_wider_than_the_record_opens_nothing(corpus: OpenCorpus) -> None:
    """The record rules: whatever a store was told, or an older version wrote."""
    result = await upload(corpus, "a.md", TEXT, ["group:hr"])
    await corpus.store.set_acl("local", BASE, str(result.document_id), ["*"])
    assert await sees(corpus, LOCAL) == []


async def test_copies_and_renewed_records_keep_their_list(corpus: OpenCorpus) -> None:
    await upload(corpus, "a.md", TEXT, ["group:hr"])
    (record,) = await corpus.index.documents(LOCAL_MANAGER, BASE)
    stored = await corpus.store.read_revision("local", BASE, record.document_id, record.revision)
    assert {tuple(one.acl) for one in stored} == {("group:hr",)}
    assert replace(record, metadata={"acl": "user:ann"}).readers == []
