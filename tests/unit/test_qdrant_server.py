"""The Qdrant server's adapter: faults, races, names, indexes and embedders."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import AsyncMock

import httpx
import numpy as np
import pytest
from qdrant_client import models

from ingest.adapters.payload import INDEXED
from ingest.adapters.qdrant_server import QdrantServerStore, connect
from ingest.documents import chunk_id
from ingest.errors import ConfigurationError, DependencyError, DependencyTimeout, EmbedderMismatch
from ingest.filters import Condition, Filters
from ingest.ports import Encoders, QueryVectors, SparseVector, StoredChunk
from ingest.scope import EVERYONE, Scope
from ingest.settings import IndexSettings, QdrantSettings, read
from tests.fake_qdrant import FakeQdrant
from tests.fakes import a_chunk

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local")
SCOPE = Scope("local")
QUERY = QueryVectors(np.ones(2, np.float32), SparseVector([1], [1.0]))
ENCODERS = Encoders("embedder-1", "bm25-1", 2)


def a_stored(n: int = 1, base: str = "kb") -> StoredChunk:
    chunk = a_chunk(chunk_id("d", "r1", n), f"text {n}", document_id="d", ordinal=n)
    sparse = SparseVector([1, n + 10], [1.0, 1.0])
    return StoredChunk(chunk, "local", base, [EVERYONE], np.ones(2, np.float32), sparse)


def a_store(fake: FakeQdrant, encoders: Encoders = ENCODERS, **settings: Any) -> QdrantServerStore:
    return QdrantServerStore(fake.client(), QdrantSettings(**settings), encoders)


@pytest.fixture
def fake() -> FakeQdrant:
    return FakeQdrant()


@pytest.fixture
async def filled(fake: FakeQdrant) -> AsyncIterator[QdrantServerStore]:
    store = a_store(fake, timeout_s=1)
    await store.upsert([a_stored()])
    fake.requests.clear()
    yield store
    await store.close()


async def found(store: QdrantServerStore) -> list[str]:
    hits = await store.search(SCOPE, "kb", QUERY, limit=5, filters=Filters())
    return [hit.chunk.text for hit in hits]


# Faults


@pytest.mark.parametrize(
    "fault", [429, 500, 502, 503, httpx.ConnectError("refused"), httpx.ReadError("reset")]
)
async def test_what_passes_is_tried_again(
    fake: FakeQdrant, filled: QdrantServerStore, fault: Any
) -> None:
    fake.faults = [fault, fault]
    assert await found(filled) == ["text 1"]
    assert len(fake.requests) == 3


@pytest.mark.parametrize("fault", [500, httpx.ConnectError("refused")])
async def test_it_gives_up_after_its_retries(
    fake: FakeQdrant, filled: QdrantServerStore, fault: Any
) -> None:
    fake.faults = [fault] * 9
    with pytest.raises(DependencyError, match=r"500 .*a fault|ConnectError refused"):
        await found(filled)
    assert len(fake.requests) == 3


async def test_what_does_not_pass_is_not_tried_again(
    fake: FakeQdrant, filled: QdrantServerStore
) -> None:
    fake.faults = [403]
    with pytest.raises(DependencyError, match="403"):
        await found(filled)
    assert len(fake.requests) == 1


async def test_it_waits_as_long_as_it_is_told(fake: FakeQdrant) -> None:
    store = a_store(fake)
    await store.upsert([a_stored()])
    fake.faults, fake.retry_after = [429], "1"
    started = time.monotonic()
    assert await found(store) == ["text 1"]
    assert 1 <= time.monotonic() - started < 2


async def test_it_does_not_wait_past_its_time(fake: FakeQdrant, filled: QdrantServerStore) -> None:
    fake.faults, fake.retry_after = [429], "60"
    started = time.monotonic()
    with pytest.raises(DependencyError, match="a fault"):
        await found(filled)
    assert time.monotonic() - started < 0.5


async def test_a_call_that_hangs_is_a_timeout_and_not_tried_again(fake: FakeQdrant) -> None:
    store = a_store(fake, timeout_s=0.3)
    await store.upsert([a_stored()])
    fake.requests.clear()
    fake.faults = [5.0]
    started = time.monotonic()
    with pytest.raises(DependencyTimeout, match=r"took over 0\.3 s"):
        await found(store)
    assert time.monotonic() - started < 1
    assert len(fake.requests) == 1


async def test_a_404_of_something_else_is_no_empty_base(
    fake: FakeQdrant, filled: QdrantServerStore
) -> None:
    fake.faults = [404]
    with pytest.raises(DependencyError, match="404"):
        await found(filled)


async def test_a_write_that_was_not_applied_in_time_is_a_timeout(
    fake: FakeQdrant, filled: QdrantServerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = models.UpdateResult(operation_id=1, status=models.UpdateStatus.WAIT_TIMEOUT)
    for name, said in (("upsert", late), ("batch_update_points", [late])):
        monkeypatch.setattr(fake.local, name, AsyncMock(return_value=said))
    with pytest.raises(DependencyTimeout, match="not applied"):
        await filled.upsert([a_stored(2)])
    with pytest.raises(DependencyTimeout, match="not applied"):
        await filled.delete_revision("local", "kb", "d", "r1")


async def test_nobody_answers() -> None:
    settings = QdrantSettings(url="http://127.0.0.1:1", retries=0)
    store = QdrantServerStore(connect(settings), settings, ENCODERS)
    with pytest.raises(DependencyError, match=r"Qdrant at http://127.0.0.1:1 failed: ConnectError"):
        await store.count("local", "kb")
    await store.close()


# Collections


async def test_two_that_make_the_same_collection_both_succeed(fake: FakeQdrant) -> None:
    one, other = a_store(fake), a_store(fake)
    await asyncio.gather(one.upsert([a_stored(1)]), other.upsert([a_stored(2)]))
    assert await one.count("local", "kb") == await other.count("local", "kb") == 2
    assert len(fake.created) == 1


async def test_a_collection_is_strict_indexed_and_named(fake: FakeQdrant) -> None:
    store = a_store(fake, prefix="mine", replication_factor=2, shard_number=3)
    await store.upsert([a_stored(base="hand_book"), a_stored(base="two")])
    assert len(fake.created) == 2
    name = next(name for name in fake.created if name.startswith("mine-hand_book-"))
    made = fake.created[name]
    assert made["strict_mode_config"]["enabled"] is True
    assert (made["replication_factor"], made["shard_number"]) == (2, 3)
    assert made["metadata"] == {"embedder": "embedder-1", "sparse": "bm25-1"}
    assert made["sparse_vectors"]["bm25"]["modifier"] == "idf"
    assert made["vectors"]["dense"] == {"size": 2, "distance": "Cosine"}
    assert fake.indexes[name].keys() == set(INDEXED)
    assert fake.indexes[name]["tenant"] == {"type": "keyword", "is_tenant": True}
    order = [path for method, path in fake.requests if method == "PUT"]
    first_write = next(n for n, path in enumerate(order) if path.endswith("/points"))
    assert sum(path == f"/collections/{name}/index" for path in order[:first_write]) == len(INDEXED)


async def test_a_key_without_an_index_is_refused(filled: QdrantServerStore) -> None:
    filters = Filters([Condition("owner", ["x"])])
    with pytest.raises(DependencyError, match="Index required"):
        await filled.search(SCOPE, "kb", QUERY, limit=5, filters=filters)


async def test_a_making_that_was_cut_short_is_finished(fake: FakeQdrant) -> None:
    fake.faults = [0.0, 0.0, 400]  # no alias, made, and no index
    with pytest.raises(DependencyError):
        await a_store(fake).upsert([a_stored()])
    store = a_store(fake)
    assert await found(store) == []
    await store.upsert([a_stored()])
    assert await found(store) == ["text 1"]
    ((_, indexes),) = fake.indexes.items()
    assert indexes.keys() == set(INDEXED)


async def test_a_base_that_another_process_dropped_is_made_again(
    fake: FakeQdrant, filled: QdrantServerStore
) -> None:
    await a_store(fake).delete_knowledge_base("local", "kb")
    assert await found(filled) == []
    await a_store(fake).upsert([a_stored()])
    await a_store(fake).delete_knowledge_base("local", "kb")
    await filled.upsert([a_stored(2)])
    assert await found(filled) == ["text 2"]


async def test_many_chunks_go_in_several_requests_and_come_back(fake: FakeQdrant) -> None:
    store = a_store(fake)
    await store.upsert([a_stored(n) for n in range(600)])
    assert sum(path.endswith("/points") for _, path in fake.requests) == 3
    read_again = await store.read_revision("local", "kb", "d", "r1")
    assert [stored.chunk.ordinal for stored in read_again] == list(range(600))
    await store.delete_revision("local", "kb", "d", "r1")
    assert await store.count("local", "kb") == 0


# Embedders


async def test_another_embedder_is_refused_and_told_what_to_do(fake: FakeQdrant) -> None:
    await a_store(fake).upsert([a_stored()])
    changed = a_store(fake, Encoders("embedder-2", "bm25-1", 2))
    for attempt in (
        lambda: changed.check("local", ["none", "kb"]),
        lambda: changed.upsert([a_stored()]),
        lambda: found(changed),
        lambda: changed.count("local", "kb"),
    ):
        with pytest.raises(EmbedderMismatch, match=r"embedder-1 .* embedder-2 .*kb reembed"):
            await attempt()
    assert await a_store(fake).count("local", "kb") == 1
    await changed.delete_knowledge_base("local", "kb")  # allowed: it is one of the ways out
    await changed.upsert([a_stored()])


async def test_a_check_of_what_is_not_there_is_quiet(fake: FakeQdrant) -> None:
    await a_store(fake).check("local", ["never"])


# Settings


@pytest.mark.parametrize("url", ["qdrant:6333", "ftp://qdrant", "http://", "http://u:p@qdrant"])
def test_a_bad_address_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("CRAG_QDRANT__URL", url)
    with pytest.raises(ConfigurationError, match="CRAG_QDRANT__URL"):
        read(IndexSettings)


def test_a_key_goes_into_a_header_and_nowhere_else() -> None:
    settings = QdrantSettings.model_validate({"url": "https://q.example", "api_key": "secret"})
    assert "secret" not in repr(settings)
    client: Any = connect(settings)
    assert client._client._rest_headers["api-key"] == "secret"
    assert client._client.rest_uri == "https://q.example:443"
