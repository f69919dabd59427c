"""`crag kb reembed`: what another embedder made is refused, embedded anew and switched at once."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import crag
from ingest.adapters.transformer_embedder import TransformerEmbedder
from ingest.compose import open_index
from ingest.pipeline import ingest_upload
from ingest.ports import Encoded, Vector
from ingest.scope import Scope
from ingest.settings import IndexSettings
from tests.api_fakes import FakeEmbedder
from tests.fake_qdrant import FakeQdrant

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local")
URL = "http://qdrant.test:6333"


class Turned(FakeEmbedder):
    """Another embedder: all that it says is the other way round."""

    fingerprint = "turned"

    async def embed(self, texts: Any, **how: Any) -> Vector:
        return -(await super().embed(texts, **how))

    async def encode(self, texts: Any, **how: Any) -> list[Encoded]:
        return [replace(one, sentence=-one.sentence) for one in await super().encode(texts, **how)]


class Way(NamedTuple):
    server: FakeQdrant
    before: list[Any]
    """What was found with the first embedder; a mix of the two would turn the scores."""


@pytest.fixture(params=["embedded", "server"])
def way(
    request: pytest.FixtureRequest,
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Way:
    """Two documents, embedded; from then on the service runs another embedder."""
    fake = FakeQdrant()
    monkeypatch.setattr("ingest.adapters.qdrant_server.connect", lambda settings: fake.client())
    monkeypatch.setenv("CRAG_DATA_DIR", str(store_path / "crag"))
    if request.param == "server":
        monkeypatch.setenv("CRAG_QDRANT__URL", URL)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave.md").write_text("# Leave\n\nThirty days of leave.\n")
    (docs / "travel.md").write_text("# Travel\n\nTravel by train.\n\n## Taxis\n\nOnly at night.\n")
    _run_with(monkeypatch, FakeEmbedder)
    assert crag.run(["ingest", str(docs), "--kb", "handbook"]) == 0
    assert crag.run(["kb", "create", "empty"]) == 0
    before = scores(capsys)
    _run_with(monkeypatch, Turned)
    return Way(fake, before)


def _run_with(monkeypatch: pytest.MonkeyPatch, embedder: type[FakeEmbedder]) -> None:
    monkeypatch.setattr("ingest.adapters.embedders.open_embedder", lambda name: embedder())


def reembedded(capsys: pytest.CaptureFixture[str], name: str = "handbook") -> int:
    capsys.readouterr()
    assert crag.run(["kb", "reembed", name, "--json"]) == 0
    count: int = json.loads(capsys.readouterr().out)["embedded"]
    return count


def scores(capsys: pytest.CaptureFixture[str]) -> list[Any]:
    capsys.readouterr()
    assert crag.run(["search", "Thirty days of leave.", "--kb", "handbook", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    return [(r["text"], round(r["scores"]["dense"], 3)) for r in found]


def test_is_refused_then_embedded_then_served(
    way: Way, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, chunks in (("empty", 0), ("handbook", 3)):
        assert crag.run(["kb", "list"]) == 2
        assert f"crag kb reembed {name}" in capsys.readouterr().err
        assert reembedded(capsys, name) == chunks
    assert scores(capsys) == way.before
    assert len(way.before) == 3 and all(abs(dense) > 0 for _, dense in way.before)
    assert reembedded(capsys) == 0
    _run_with(monkeypatch, FakeEmbedder)
    assert crag.run(["kb", "list"]) == 2


def test_work_that_was_cut_short_is_taken_up_and_nothing_is_served_half(
    way: Way, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ingest.reembedding.GROUP_CHUNKS", 1)
    with monkeypatch.context() as broken:
        encode = Turned.encode

        async def breaks_later(self: Turned, texts: list[str], **how: Any) -> list[Encoded]:
            if any("Taxis" in text for text in texts):
                raise KeyboardInterrupt
            return await encode(self, texts, **how)

        broken.setattr(Turned, "encode", breaks_later)
        assert crag.run(["kb", "reembed", "handbook"]) == 130
    with monkeypatch.context() as old:
        _run_with(old, FakeEmbedder)
        assert scores(capsys) == way.before
    assert reembedded(capsys) == 2
    assert reembedded(capsys, "empty") == 0
    assert scores(capsys) == way.before


def test_a_switch_whose_record_was_not_written_is_finished(
    way: Way, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("ingest.adapters.sql_records.SqlRecords.set_encoders", None)
        with pytest.raises(TypeError):
            crag.run(["kb", "reembed", "handbook"])
    assert reembedded(capsys) == (0 if way.server.created else 3)
    reembedded(capsys, "empty")
    assert scores(capsys) == way.before


def test_a_base_without_token_vectors_gets_them(
    way: Way, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _run_with(monkeypatch, FakeEmbedder)
    (Path(os.environ["CRAG_DATA_DIR"]) / "token_vectors.sqlite").unlink()
    assert scores(capsys) == way.before
    with monkeypatch.context() as without:
        without.setenv("CRAG_TOKEN_VECTORS", "false")
        assert reembedded(capsys) == 0
    assert reembedded(capsys) == 3
    assert reembedded(capsys) == 0
    assert scores(capsys) == way.before


def test_the_old_collection_and_the_draft_are_gone(
    way: Way, capsys: pytest.CaptureFixture[str]
) -> None:
    reembedded(capsys)
    assert len(way.server.created) in (0, 2)
    assert len(way.server.local._client.collections) == len(way.server.created) // 2
    assert not [a for a in way.server.local._client.aliases if a.endswith("-draft")]


def test_a_folder_of_minilm_is_refused_by_the_default_and_goes_over_and_back(
    e5: TransformerEmbedder,
    minilm: TransformerEmbedder,
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With both models, which the session's fixtures keep loaded."""
    monkeypatch.setenv("CRAG_DATA_DIR", str(store_path / "crag"))
    loaded = {"multilingual-e5-small": e5, "all-MiniLM-L6-v2": minilm}
    monkeypatch.setattr("ingest.adapters.embedders.open_embedder", loaded.__getitem__)
    monkeypatch.setattr(TransformerEmbedder, "close", lambda self: None)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("# Leave\n\nThirty days of leave.\n")
    monkeypatch.setenv("CRAG_EMBEDDER", "all-MiniLM-L6-v2")
    assert crag.run(["ingest", str(tmp_path / "docs"), "--kb", "handbook"]) == 0
    before = scores(capsys)

    monkeypatch.delenv("CRAG_EMBEDDER")
    for command in (["kb", "list"], ["ask", "How many days?", "--kb", "handbook"], ["serve"]):
        assert crag.run(command) == 2
        said = capsys.readouterr().err
        assert "set CRAG_EMBEDDER=all-MiniLM-L6-v2, or run crag kb reembed handbook" in said
    assert reembedded(capsys) == 1
    after = scores(capsys)
    assert [text for text, _ in after] == [text for text, _ in before]
    assert after != before

    monkeypatch.setenv("CRAG_EMBEDDER", "all-MiniLM-L6-v2")
    assert crag.run(["kb", "list"]) == 2
    assert "set CRAG_EMBEDDER=multilingual-e5-small, or run" in capsys.readouterr().err
    assert reembedded(capsys) == 1
    assert scores(capsys) == before


def test_the_base_of_a_tenant_is_told_and_mended_by_its_name(
    store_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(store_path / "crag"))
    _run_with(monkeypatch, FakeEmbedder)

    async def made() -> None:
        acme = Scope("acme", manages=True)
        async with open_index(IndexSettings(data_dir=store_path / "crag")) as corpus:
            await corpus.writer.create_knowledge_base(acme, "handbook", acl=["group:hr"])
            parts = {"index": corpus.index, "writer": corpus.writer}
            place = {"scope": acme, "knowledge_base": "handbook"}
            await ingest_upload("a.md", b"# A\n\nText.\n", **parts, **place)

    asyncio.run(made())
    _run_with(monkeypatch, Turned)
    assert crag.run(["kb", "list"]) == 2
    assert "crag kb reembed handbook --tenant acme" in capsys.readouterr().err
    assert crag.run(["kb", "reembed", "handbook", "--tenant", "acme"]) == 0
    assert crag.run(["kb", "list"]) == 0
    assert crag.run(["kb", "copy", "handbook", "--tenant", "acme", "--as", "second"]) == 0
    assert crag.run(["kb", "copy", "handbook", "--as", "second"]) != 0
