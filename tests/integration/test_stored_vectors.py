"""Token vectors beside the index: there once a document is, gone with it, never a condition."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from graph.adapters.token_vectors import TokenVectors
from ingest.adapters.sql_vectors import VECTORS
from ingest.compose import open_vectors
from ingest.database import open_database
from ingest.documents import chunk_id
from ingest.errors import ConfigurationError, DependencyError
from ingest.passage_vectors import compressed
from ingest.scope import LOCAL
from ingest.settings import DatabaseSettings
from tests.corpus import BASE, OpenCorpus, open_corpus
from tests.fakes import HashingEmbedder, Killed

OLD = "# Refunds\n\nRefunds are paid within thirty days of the return.\n"
NEW = "# Refunds\n\nRefunds are paid within five days of the return.\n"
LONG = "\n\n".join(f"Paragraph {n} says what it says of the matter." for n in range(30))


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> DatabaseSettings:
    if request.param == "sqlite":
        return DatabaseSettings()
    return DatabaseSettings(url=request.getfixturevalue("postgres_server").new_database())


@pytest.fixture
async def corpus(
    store_path: Path, embedder: HashingEmbedder, database: DatabaseSettings
) -> AsyncIterator[OpenCorpus]:
    async with open_corpus(store_path / "crag", embedder, database=database) as corpus:
        yield corpus


async def kept(corpus: OpenCorpus) -> int:
    return await corpus.vectors.count(LOCAL.tenant, BASE)


async def test_each_passage_has_its_vectors_and_reading_them_embeds_nothing(
    corpus: OpenCorpus, embedder: HashingEmbedder
) -> None:
    result = await corpus.upload("long.md", LONG)
    assert await kept(corpus) == result.chunks > 1
    chunks = [candidate.chunk for candidate in await corpus.found("what does paragraph 3 say")]
    embedder.batches.clear()
    read = await TokenVectors(embedder, megabytes=1, stored=corpus.vectors).passages(chunks)
    assert embedder.batches == []
    computed = await TokenVectors(embedder, megabytes=1).passages(chunks)
    for one, other in zip(read, computed, strict=True):
        assert (one.codes == other.codes).all()
        assert (one.scales == other.scales).all()
        assert (one.offsets == other.offsets).all()


async def test_a_replaced_document_leaves_no_vectors_behind(corpus: OpenCorpus) -> None:
    await corpus.upload("refunds.md", OLD + LONG)
    for text in (NEW, OLD, NEW):
        result = await corpus.upload("refunds.md", text)
        assert await kept(corpus) == result.chunks == 1
    (found,) = await corpus.found("refunds")
    assert found.chunk.chunk_id in await corpus.vectors.get([found.chunk.chunk_id])


async def test_a_deleted_document_and_a_deleted_base_take_theirs_along(corpus: OpenCorpus) -> None:
    await corpus.upload("refunds.md", OLD)
    await corpus.upload("other.md", LONG)
    await corpus.delete("refunds.md")
    assert await kept(corpus) == await corpus.chunks() > 0
    await corpus.writer.delete_knowledge_base(LOCAL, BASE)
    assert await kept(corpus) == 0


async def test_what_a_crash_left_is_swept(
    store_path: Path, embedder: HashingEmbedder, database: DatabaseSettings
) -> None:
    async with open_corpus(store_path / "crag", embedder, database=database) as corpus:
        await corpus.upload("refunds.md", OLD)

        def killed(*_: object) -> None:
            raise Killed

        corpus.records.make_live = killed  # type: ignore[assignment]
        with pytest.raises(Killed):
            await corpus.upload("refunds.md", NEW)
        assert await kept(corpus) == 2
    async with open_corpus(store_path / "crag", embedder, database=database) as corpus:
        assert await kept(corpus) == 1
        (found,) = await corpus.found("refunds")
        assert "thirty" in found.chunk.text


async def test_those_of_another_embedder_are_not_found(
    corpus: OpenCorpus, database: DatabaseSettings
) -> None:
    result = await corpus.upload("refunds.md", OLD)
    assert result.document_id is not None
    (found,) = await corpus.found("refunds")
    other = open_vectors(database, corpus.corpus.folder.path, "another")
    assert await other.get([found.chunk.chunk_id]) == {}
    assert await other.count(LOCAL.tenant, BASE) == 0
    other.close()


async def test_damaged_vectors_are_computed_instead(
    corpus: OpenCorpus,
    embedder: HashingEmbedder,
    database: DatabaseSettings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await corpus.upload("refunds.md", OLD)
    (found,) = await corpus.found("refunds")
    file = open_database(database, corpus.corpus.folder.path, VECTORS)
    with file.transaction() as db:
        db.execute("UPDATE token_vectors SET vectors = ?", [b"\1\2"])
    file.close()
    with pytest.raises(DependencyError):
        await corpus.vectors.get([found.chunk.chunk_id])
    vectors = TokenVectors(embedder, megabytes=1, stored=corpus.vectors)
    (read,) = await vectors.passages([found.chunk])
    (encoded,) = await embedder.encode([found.chunk.embedded_text])
    assert np.array_equal(read.codes, compressed(encoded, found.chunk).codes)
    assert "computed, not read" in caplog.text


def test_a_file_of_something_else_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / VECTORS.file).write_text("no database " * 100)
    with pytest.raises(ConfigurationError, match="computed anew"):
        open_vectors(DatabaseSettings(), tmp_path, "hashing")


async def test_an_unknown_chunk_has_none(corpus: OpenCorpus) -> None:
    assert await corpus.vectors.get([chunk_id("d", "r", 0)]) == {}
    assert await corpus.vectors.get([]) == {}
