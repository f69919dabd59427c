"""What Records must do: SQLite in a file, a real PostgreSQL, and either when it is opened again."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.adapters.record_rows import RECORDS
from ingest.adapters.sql_records import SqlRecords
from ingest.database import open_database
from ingest.errors import (
    DependencyError,
    InvalidRequest,
    ServiceError,
    UnknownDataFormat,
    UnknownKnowledgeBase,
)
from ingest.ports import DocumentRecord, KnowledgeBase
from ingest.settings import DatabaseSettings

T, KB = "local", "kb"
ODD = ["../x", "x' || tenant == 'y", "'; DROP TABLE documents; --", "ünï 🗂", "n" * 200]


def base(name: str = KB) -> KnowledgeBase:
    return KnowledgeBase(name, "of tests", "2026-01-01", "model", "bm25", web=True)


def document(name: str, revision: str = "1", content: str = "") -> DocumentRecord:
    return DocumentRecord(
        document_id=name,
        source=f"{name}.md",
        title=name.title(),
        revision=revision,
        content_sha256=content or f"{name}{revision}",
        media_type="text/markdown",
        chunks=2,
        updated_at="2026-01-01",
        metadata={"language": "de", "owner": "Müller"},
    )


Open = Callable[[], SqlRecords]


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> DatabaseSettings:
    if request.param == "sqlite":
        return DatabaseSettings()
    return DatabaseSettings(url=request.getfixturevalue("postgres_server").new_database())


@pytest.fixture
def open_records(database: DatabaseSettings, tmp_path: Path) -> Iterator[Open]:
    """Opens the same records again and again, as several processes do."""
    opened: list[SqlRecords] = []

    def open_() -> SqlRecords:
        opened.append(SqlRecords(open_database(database, tmp_path, RECORDS)))
        return opened[-1]

    yield open_
    for records in opened:
        records.close()


@pytest.fixture
def records(open_records: Open) -> SqlRecords:
    records = open_records()
    records.create_knowledge_base(T, base())
    return records


def live(records: SqlRecords, one: DocumentRecord, text: str = "text") -> str | None:
    records.begin_revision(T, KB, one)
    return records.make_live(T, KB, one, text)


def test_keeps_what_it_was_given_over_a_reopen(open_records: Open) -> None:
    first = open_records()
    first.create_knowledge_base(T, base())
    live(first, document("a"), "stored text")
    first.begin_revision(T, KB, document("b"))
    changes = first.changes(T, KB)
    first.close()
    second = open_records()
    assert second.knowledge_bases(T) == [base()]
    assert second.documents(T, KB) == [document("a")]
    assert second.text(T, KB, "a", "1") == "stored text"
    assert second.unfinished() == [(T, KB, "b", "1")]
    assert second.changes(T, KB) == changes


def test_a_base_is_created_once(records: SqlRecords) -> None:
    with pytest.raises(InvalidRequest):
        records.create_knowledge_base(T, base())
    records.create_knowledge_base("other", base())
    assert [b.name for b in records.knowledge_bases(T)] == [KB]


def test_an_unknown_base_raises(records: SqlRecords) -> None:
    with pytest.raises(UnknownKnowledgeBase):
        records.changes(T, "no")
    with pytest.raises(UnknownKnowledgeBase):
        records.delete_knowledge_base(T, "no")
    with pytest.raises(UnknownKnowledgeBase):
        records.original(T, "no", document("a"))


def test_a_revision_that_is_being_written_does_not_answer(records: SqlRecords) -> None:
    records.begin_revision(T, KB, document("a"))
    assert records.documents(T, KB) == []
    assert records.text(T, KB, "a", "1") is None
    assert records.unfinished() == [(T, KB, "a", "1")]


def test_going_live_names_the_revision_it_replaced(records: SqlRecords) -> None:
    assert live(records, document("a", "1")) is None
    assert live(records, document("a", "2"), "new") == "1"
    assert [d.revision for d in records.documents(T, KB)] == ["2"]
    assert (records.text(T, KB, "a", "1"), records.text(T, KB, "a", "2")) == (None, "new")
    assert records.unfinished() == [(T, KB, "a", "1")]
    records.forget_revision(T, KB, "a", "1")
    assert records.unfinished() == []


def test_going_live_again_replaces_nothing(records: SqlRecords) -> None:
    live(records, document("a"))
    assert live(records, document("a")) is None
    assert records.unfinished() == []


def test_a_live_revision_that_is_written_again_stays_accounted_for(records: SqlRecords) -> None:
    """Else a crash during the second write would sweep the chunks of a live document."""
    live(records, document("a"))
    records.begin_revision(T, KB, document("a"))
    assert records.unfinished() == []


def test_a_live_revision_cannot_be_forgotten(records: SqlRecords) -> None:
    live(records, document("a"))
    records.forget_revision(T, KB, "a", "1")
    records.delete_document(T, KB, "a")
    assert records.unfinished() == [(T, KB, "a", "1")]


def test_a_deleted_document_is_gone_at_once(records: SqlRecords) -> None:
    live(records, document("a"))
    live(records, document("b"))
    assert records.delete_document(T, KB, "a")
    assert not records.delete_document(T, KB, "a")
    assert [d.document_id for d in records.documents(T, KB)] == ["b"]
    assert records.text(T, KB, "a", "1") is None


def test_documents_come_by_source(records: SqlRecords) -> None:
    for name in ("c", "a", "b"):
        live(records, document(name))
    assert [d.source for d in records.documents(T, KB)] == ["a.md", "b.md", "c.md"]


def test_every_change_of_a_base_is_counted(records: SqlRecords) -> None:
    seen = [records.changes(T, KB)]
    for step in (
        lambda: live(records, document("a")),
        lambda: live(records, document("a", "2")),
        lambda: records.delete_document(T, KB, "a"),
    ):
        step()
        seen.append(records.changes(T, KB))
    assert seen == sorted(set(seen))


def test_the_original_is_a_live_document_with_the_same_bytes(records: SqlRecords) -> None:
    live(records, document("a", content="same"))
    copy = document("b", content="same")
    assert records.original(T, KB, copy) == "a"
    assert records.original(T, KB, document("a", content="same")) is None
    assert records.original(T, KB, document("c", content="other")) is None
    live(records, replace(copy, duplicate_of="a"))
    assert records.original(T, KB, document("c", content="same")) == "a"


def test_access_lists_are_kept_and_their_change_is_one_of_the_base(
    records: SqlRecords,
) -> None:
    given = replace(document("a"), acl=["group:hr", "user:o'brien"])
    live(records, given)
    assert records.documents(T, KB) == [given]
    seen = [records.changes(T, KB)]
    records.set_document_acl(T, KB, "a", [])
    assert records.documents(T, KB) == [replace(given, acl=[])]
    seen.append(records.changes(T, KB))
    records.set_base_acl(T, KB, ["group:it"])
    assert records.knowledge_bases(T) == [replace(base(), acl=["group:it"])]
    seen.append(records.changes(T, KB))
    assert seen == sorted(set(seen))
    with pytest.raises(UnknownKnowledgeBase):
        records.set_base_acl("other", KB, ["*"])


def test_a_description_and_examples_are_replaced(records: SqlRecords) -> None:
    records.describe(T, KB, "Löhne", ["Wann ist Zahltag?", "Who's paid?"])
    (found,) = records.knowledge_bases(T)
    assert (found.description, found.examples) == ("Löhne", ["Wann ist Zahltag?", "Who's paid?"])
    records.describe(T, KB, "", [])
    (found,) = records.knowledge_bases(T)
    assert (found.description, found.examples) == ("", [])
    with pytest.raises(UnknownKnowledgeBase):
        records.describe("other", KB, "x", [])


def test_tables_of_before_access_lists_admit_everyone(
    records: SqlRecords, open_records: Open
) -> None:
    live(records, document("a"))
    with records._database.transaction() as db:
        db.execute("ALTER TABLE documents DROP COLUMN acl")
        db.execute("ALTER TABLE knowledge_bases DROP COLUMN acl")
    records.close()
    new = open_records()
    assert (new.documents(T, KB), new.knowledge_bases(T)) == ([document("a")], [base()])
    live(new, replace(document("b"), acl=["group:hr"]))
    assert new.documents(T, KB)[1].acl == ["group:hr"]


def test_names_the_tenants(records: SqlRecords) -> None:
    records.create_knowledge_base("other", base())
    records.create_knowledge_base("other", base("two"))
    assert records.tenants() == [T, "other"]


def test_tenants_and_bases_are_apart(records: SqlRecords) -> None:
    records.create_knowledge_base("other", base())
    records.create_knowledge_base(T, base("two"))
    live(records, document("a", content="same"))
    assert records.documents("other", KB) == records.documents(T, "two") == []
    assert records.text("other", KB, "a", "1") is None
    assert records.original(T, "two", document("b", content="same")) is None
    assert not records.delete_document("other", KB, "a")


def test_a_deleted_base_takes_its_documents_along(records: SqlRecords) -> None:
    live(records, document("a"))
    records.delete_knowledge_base(T, KB)
    assert records.documents(T, KB) == []
    assert records.knowledge_bases(T) == []
    assert records.unfinished() == [(T, KB, "a", "1")]
    records.forget_knowledge_base(T, KB)
    assert records.unfinished() == []


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_name_is_only_a_name(records: SqlRecords, odd: str) -> None:
    records.create_knowledge_base(odd, base(odd))
    records.begin_revision(odd, odd, document(odd))
    records.make_live(odd, odd, document(odd), odd)
    assert records.text(odd, odd, odd, "1") == odd
    assert records.documents(T, KB) == []
    records.delete_knowledge_base(odd, odd)
    assert [b.name for b in records.knowledge_bases(T)] == [KB]


def test_threads_share_it(records: SqlRecords) -> None:
    before = records.changes(T, KB)

    def write(part: int) -> None:
        for n in range(10):
            live(records, document(f"{part}-{n}"))

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(records.documents(T, KB)) == 40
    assert records.changes(T, KB) == before + 40


def test_what_is_closed_is_a_dependency_that_failed(records: SqlRecords) -> None:
    records.close()
    with pytest.raises(DependencyError):
        records.knowledge_bases(T)


def test_a_file_that_is_no_database_is_said_in_one_error(tmp_path: Path) -> None:
    (tmp_path / RECORDS.file).write_text("this is no database, and long enough to be read " * 50)
    with pytest.raises(ServiceError):
        open_database(DatabaseSettings(), tmp_path, RECORDS)


# What several processes need


def test_what_a_writer_left_is_dead_and_no_longer_goes_live(records: SqlRecords) -> None:
    live(records, document("a"))
    records.begin_revision(T, KB, document("b"))
    records.begin_revision(T, "other", document("c"))
    assert records.abandoned(T, KB) == [("b", "1")]
    with pytest.raises(DependencyError, match="took over"):
        records.make_live(T, KB, document("b"), "text")
    assert [d.document_id for d in records.documents(T, KB)] == ["a"]
    assert live(records, document("b")) is None
    assert records.abandoned(T, KB) == []
    assert records.unfinished() == [(T, "other", "c", "1")]


def test_a_revision_that_nobody_began_does_not_go_live(records: SqlRecords) -> None:
    with pytest.raises(DependencyError):
        records.make_live(T, KB, document("a"), "text")
    assert records.documents(T, KB) == []


def test_a_base_that_is_made_anew_begins_above_its_changes(records: SqlRecords) -> None:
    live(records, document("a"))
    before = records.changes(T, KB)
    records.delete_knowledge_base(T, KB)
    records.create_knowledge_base(T, base())
    assert records.changes(T, KB) > before


def test_no_character_of_a_name_is_a_failure(records: SqlRecords) -> None:
    assert records.text(T, KB, "a\x00b", "1") is None
    assert not records.delete_document(T, KB, "\x00")
    with pytest.raises(UnknownKnowledgeBase):
        records.changes("\x00", "%s' ?")


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_a_base_is_written_by_one_process_at_a_time(open_records: Open) -> None:
    here, there = open_records(), open_records()
    assert here.take(T, KB)
    assert not there.take(T, KB)
    assert there.take(T, "another") and there.take("other", KB)
    there.let_go(T, KB)  # has no say in it
    assert not there.take(T, KB)
    here.let_go(T, KB)
    assert there.take(T, KB)
    there.close()
    deadline = time.monotonic() + 10
    while not here.take(T, KB):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_many_processes_make_the_tables_and_a_base_at_once(open_records: Open) -> None:
    made: list[bool] = []

    def make() -> None:
        try:
            open_records().create_knowledge_base(T, base())
            made.append(True)
        except InvalidRequest:
            made.append(False)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False] * 5 + [True]


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_a_database_of_another_format_is_refused(records: SqlRecords, open_records: Open) -> None:
    with records._database.transaction() as db:
        db.execute("UPDATE crag_format SET format = format + 1")
    with pytest.raises(UnknownDataFormat, match="another database"):
        open_records().tenants()
