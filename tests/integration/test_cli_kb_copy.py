"""`crag kb copy`: between the embedded store, a Qdrant server, folders and names."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import crag
from ingest.data_folder import DataFolder
from tests.api_fakes import FakeEmbedder
from tests.fake_qdrant import FakeQdrant

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local")
URL = "http://qdrant.test:6333"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeQdrant:
    fake = FakeQdrant()
    monkeypatch.setattr("ingest.adapters.qdrant_server.connect", lambda settings: fake.client())
    return fake


@pytest.fixture(autouse=True)
def handbook(
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Path:
    """Three documents in the embedded store, one of them under a second name."""
    monkeypatch.setenv("CRAG_DATA_DIR", str(store_path / "crag"))
    monkeypatch.setattr("ingest.adapters.embedders.open_embedder", lambda name: FakeEmbedder())
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave.md").write_text("# Leave\n\nThirty days of leave.\n")
    (docs / "copy of leave.md").write_text("# Leave\n\nThirty days of leave.\n")
    (docs / "travel.md").write_text("# Travel\n\nTravel by train.\n\n## Taxis\n\nOnly at night.\n")
    assert crag.run(["ingest", str(docs), "--kb", "handbook"]) == 0
    capsys.readouterr()
    return docs


def copied(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert crag.run(["kb", "copy", "handbook", *arguments, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = crag.run(["kb", "copy", "handbook", *arguments])
    return code, capsys.readouterr().err.splitlines()[-1]


def scores(capsys: pytest.CaptureFixture[str], base: str = "handbook") -> list[Any]:
    """What is found, in order, with the scores of both arms."""
    capsys.readouterr()
    assert crag.run(["search", "thirty days of travel", "--kb", base, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    return [(r["title"], r["text"], round(r["scores"]["bm25"], 3)) for r in found]


def test_to_a_server_and_the_answers_stay(
    server: FakeQdrant,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = scores(capsys)
    with monkeypatch.context() as no_model:
        no_model.setattr(FakeEmbedder, "embed", None)
        no_model.setattr(FakeEmbedder, "encode", None)
        report = copied(capsys, "--to-url", URL)
    assert report["documents"] == 3 and report["already"] == 0
    monkeypatch.setenv("CRAG_QDRANT__URL", URL)
    assert scores(capsys) == before != []


def token_vectors(folder: Path) -> dict[str, list[str]]:
    """The chunks that have some, by base."""
    found: dict[str, list[str]] = {}
    with sqlite3.connect(folder / "token_vectors.sqlite") as file:
        for base, key in file.execute("SELECT knowledge_base, chunk_id FROM token_vectors"):
            found.setdefault(base, []).append(key)
    file.close()
    return found


def test_token_vectors_go_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = Path(os.environ["CRAG_DATA_DIR"])
    before = token_vectors(here)["handbook"]
    copied(capsys, "--to-data-dir", str(tmp_path / "other"))
    assert sorted(token_vectors(tmp_path / "other")["handbook"]) == sorted(before)
    copied(capsys, "--as", "second")
    assert sorted(token_vectors(here)["handbook"]) == sorted(before)
    assert len(set(token_vectors(here)["second"]) - set(before)) == len(before) == 4
    copied(capsys, "--as", "second", "--replace")
    assert len(token_vectors(here)["second"]) == 4
    assert crag.run(["kb", "delete", "second"]) == 0
    assert list(token_vectors(here)) == ["handbook"]


def test_a_second_time_copies_nothing(
    server: FakeQdrant, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(capsys, "--to-url", URL)
    server.requests.clear()
    assert copied(capsys, "--to-url", URL)["already"] == 3
    assert not [
        path for method, path in server.requests if (method, path[-7:]) == ("PUT", "/points")
    ]


def test_one_that_was_cut_short_is_taken_up(
    server: FakeQdrant, capsys: pytest.CaptureFixture[str]
) -> None:
    upsert, written = server.local.upsert, []

    async def fails_later(name: str, points: Any) -> Any:
        written.append(points)
        if len(written) == 2:
            raise ValueError("disk full")
        return await upsert(name, points)

    server.local.upsert = fails_later  # type: ignore[assignment]
    code, said = refused(capsys, "--to-url", URL)
    assert code == 1 and "disk full" in said
    assert copied(capsys, "--to-url", URL) == {
        "knowledge_base": "handbook",
        "documents": 3,
        "already": 1,
        "chunks": 4,
    }


def test_from_a_server_back_into_a_folder(
    server: FakeQdrant,
    store_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = scores(capsys)
    copied(capsys, "--to-url", URL)
    monkeypatch.setenv("CRAG_QDRANT__URL", URL)
    copied(capsys, "--to-data-dir", str(store_path / "other"))
    monkeypatch.delenv("CRAG_QDRANT__URL")
    monkeypatch.setenv("CRAG_DATA_DIR", str(store_path / "other"))
    assert scores(capsys) == before


def test_under_another_name_it_is_what_ingesting_it_would_have_made(
    handbook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = scores(capsys)
    copied(capsys, "--as", "two")
    assert scores(capsys, "two") == before
    assert crag.run(["ingest", str(handbook), "--kb", "two", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unchanged"] == 3
    assert crag.run(["kb", "delete", "handbook"]) == 0
    assert scores(capsys, "two") == before


def test_a_change_since_then_is_copied_too(
    handbook: Path,
    server: FakeQdrant,
    store_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = str(store_path / "other")
    copied(capsys, "--to-data-dir", other)
    (handbook / "leave.md").write_text("# Leave\n\nThirty-one days of leave.\n")
    crag.run(["ingest", str(handbook), "--kb", "handbook"])
    after = scores(capsys)
    assert copied(capsys, "--to-data-dir", other)["already"] == 2
    monkeypatch.setenv("CRAG_DATA_DIR", other)
    assert scores(capsys) == after


def test_leftovers_are_told_and_replaced(
    handbook: Path, server: FakeQdrant, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(capsys, "--to-url", URL)
    (handbook / "travel.md").unlink()
    crag.run(["ingest", str(handbook), "--kb", "handbook", "--delete-missing"])
    code, said = refused(capsys, "--to-url", URL)
    assert code == 1 and "2 more than the documents" in said and "--replace" in said
    assert copied(capsys, "--to-url", URL, "--replace")["chunks"] == 2


def test_what_the_target_has_of_others_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Note\n\nOf somebody else.\n")
    crag.run(["ingest", str(note), "--kb", "two"])
    code, said = refused(capsys, "--as", "two")
    assert code == 2 and "'note.md'" in said
    assert copied(capsys, "--as", "two", "--replace")["documents"] == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "that is where it is"),
        (("--as", "Not Good"), "a knowledge base name has"),
        (("--to-url", "qdrant:6333"), "must be http"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = refused(capsys, *arguments)
    assert code == 2 and says in said


def test_two_folders_do_not_share_a_collection(
    server: FakeQdrant,
    store_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CRAG_QDRANT__URL", URL)
    code, said = refused(capsys, "--to-url", URL, "--to-data-dir", str(store_path / "other"))
    assert code == 2 and "share one collection" in said


def test_an_unknown_base_and_a_held_folder(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crag.run(["kb", "copy", "nope", "--as", "two"]) == 1
    assert "no knowledge base 'nope'" in capsys.readouterr().err
    holder = DataFolder(store_path / "crag")
    assert refused(capsys, "--as", "two")[0] == 5
    holder.close()


def test_a_folder_of_another_embedder_is_refused_before_anything_is_written(
    handbook: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, other = os.environ["CRAG_DATA_DIR"], tmp_path / "other"
    monkeypatch.setenv("CRAG_DATA_DIR", str(other))
    assert crag.run(["ingest", str(handbook), "--kb", "theirs"]) == 0
    with sqlite3.connect(other / "records.sqlite") as records:
        records.execute("UPDATE knowledge_bases SET embedder = 'another@1'")
    monkeypatch.setenv("CRAG_DATA_DIR", own)
    code, said = refused(capsys, "--to-data-dir", str(other))
    assert code != 0 and "opened with one embedder" in said and "another@1" in said
    assert refused(capsys, "--to-data-dir", str(other), "--replace")[0] != 0
    with sqlite3.connect(other / "records.sqlite") as records:
        assert records.execute("SELECT name FROM knowledge_bases").fetchall() == [("theirs",)]
