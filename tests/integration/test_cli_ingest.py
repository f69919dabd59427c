"""`crag ingest` and `crag kb`, in this process and through a server: the same results."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crag
from ingest.data_folder import DataFolder, Holder, is_held
from ingest.progress import STATES
from tests.api_clients import served, settings_on
from tests.api_fakes import FakeEmbedder, FakeService


@pytest.fixture(params=["here", "through a server"])
def way(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))
    if request.param == "here":
        monkeypatch.setattr("ingest.adapters.embedders.open_embedder", lambda name: FakeEmbedder())
        yield request.param
        return
    with served(settings_on(tmp_path), FakeService()):
        yield request.param


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "hr").mkdir(parents=True)
    (docs / "hr" / "leave.md").write_text("# Leave\n\nThirty days.\n")
    (docs / "copy of leave.md").write_text("# Leave\n\nThirty days.\n")
    (docs / "travel ü.txt").write_text("Travel by train.\n")
    (docs / ".hidden.md").write_text("# Hidden\n\nNot this.\n")
    return docs


def ingested(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = crag.run(["ingest", *arguments, "--kb", "handbook", "--json"])
    report = json.loads(capsys.readouterr().out)
    return code, {state: report[state] for state in STATES}


def counts(**states: int) -> dict[str, int]:
    return {"added": 0, "updated": 0, "unchanged": 0, "deleted": 0, "failed": 0} | states


def test_brings_the_base_in_line_with_the_folder(
    way: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ingested(capsys, str(folder))
    (folder / "hr" / "leave.md").write_text("# Leave\n\nThirty-one days.\n")
    (folder / "travel ü.txt").unlink()
    second = ingested(capsys, str(folder))
    third = ingested(capsys, str(folder), "--delete-missing")
    assert first == (0, counts(added=3))
    assert second == (0, counts(updated=1, unchanged=1))
    assert third == (0, counts(unchanged=2, deleted=1))


def test_says_what_happened_on_standard_error(
    way: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty.md").touch()
    assert crag.run(["ingest", str(folder), "--kb", "handbook"]) == 3
    captured = capsys.readouterr()
    assert "created knowledge base handbook" in captured.err
    assert "failed: empty.md: It is empty." in captured.err
    assert "added: hr/leave.md is a duplicate of copy of leave.md" in captured.err
    assert captured.out.startswith("handbook: 3 added, 1 failed, 3 passages written in ")


def test_exits_1_when_nothing_could_be_read(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "photo.png").write_bytes(b"\x89PNG")
    assert ingested(capsys, str(photos)) == (1, counts(failed=1))


def test_ingests_a_single_file(way: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ingested(capsys, str(folder / "hr" / "leave.md")) == (0, counts(added=1))


def test_makes_no_base_for_a_path_that_is_not_there(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crag.run(["ingest", str(tmp_path / "nope"), "--kb", "handbook"]) == 2
    assert crag.run(["kb", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"knowledge_bases": []}


def test_bases_are_made_listed_and_deleted(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = crag.run(["kb", "create", "wiki", "--description", "The wiki", "--json"])
    assert json.loads(capsys.readouterr().out)["description"] == "The wiki"
    assert made == 0
    assert crag.run(["kb", "create", "wiki"]) == 2
    capsys.readouterr()
    said = ["--description", "The wiki", "--example", "What is new?", "--example", "Who edits?"]
    assert crag.run(["kb", "describe", "wiki", *said, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["examples"] == ["What is new?", "Who edits?"]
    assert crag.run(["kb", "describe", "nowhere"]) == 1
    assert crag.run(["kb", "create", "auto"]) == 2
    capsys.readouterr()
    crag.run(["kb", "list"])
    listed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert listed == [
        ["NAME", "DOCUMENTS", "PASSAGES", "DESCRIPTION"],
        ["wiki", "0", "0", "The", "wiki"],
    ]
    assert crag.run(["kb", "delete", "wiki"]) == 0
    assert crag.run(["kb", "delete", "wiki"]) == 1
    assert "no knowledge base 'wiki'" in capsys.readouterr().err


def test_waits_for_a_server_that_has_just_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says its address as soon as it holds the folder, and answers before it is ready; a holder
    that says none is not waited for half as long as this one opens the folder."""
    monkeypatch.setattr("ingest.remote.ANNOUNCED_WITHIN_S", 0.3)
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))
    service = FakeService(opening_s=0.7, loading_s=0.3)
    with served(settings_on(tmp_path), service, wait=False):
        while not is_held(tmp_path / "crag"):
            time.sleep(0.01)
        assert crag.run(["kb", "list"]) == 0
    assert capsys.readouterr().err.splitlines()[0].startswith("the server is starting; waiting")


def test_a_server_that_does_not_answer_exits_5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))
    folder = DataFolder(tmp_path / "crag")
    folder.announce(Holder(7, "http://127.0.0.1:9", "t"))
    try:
        assert crag.run(["kb", "list"]) == 5
    finally:
        folder.close()
    assert "process 7, serving http://127.0.0.1:9" in capsys.readouterr().err


def test_documents_and_bases_are_given_to_whom_the_options_name(
    way: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read by the operator, who lists every document and finds none that is for others alone."""

    def found() -> int:
        capsys.readouterr()
        assert crag.run(["search", "leave", "--kb", "handbook", "--json"]) == 0
        return len(json.loads(capsys.readouterr().out)["results"])

    assert crag.run(["kb", "create", "handbook"]) == 0
    assert ingested(capsys, str(folder), "--acl", "group:hr") == (0, counts(added=3))
    assert found() == 0
    assert ingested(capsys, str(folder)) == (0, counts(unchanged=3))
    assert found() == 0
    assert ingested(capsys, str(folder), "--acl", "*") == (0, counts(updated=3))
    assert found() > 0
    assert crag.run(["ingest", str(folder), "--kb", "handbook", "--acl", "hr"]) == 2
    assert crag.run(["kb", "create", "closed", "--acl", "group:hr", "--acl", "user:ann"]) == 0
    capsys.readouterr()
    assert crag.run(["kb", "list", "--json"]) == 0
    bases = json.loads(capsys.readouterr().out)["knowledge_bases"]
    assert {b["name"]: (b["documents"], b["acl"]) for b in bases} == {
        "handbook": (3, ["*"]),
        "closed": (0, ["group:hr", "user:ann"]),
    }
    assert crag.run(["search", "leave", "--kb", "closed", "--json"]) == 1
