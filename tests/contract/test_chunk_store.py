"""What every ChunkStore must do, run on each of them."""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from ingest.adapters.bm25 import Bm25Encoder
from ingest.adapters.memory import MemoryStore
from ingest.adapters.qdrant_edge import QdrantEdgeStore
from ingest.adapters.qdrant_server import QdrantServerStore, connect
from ingest.documents import chunk_id
from ingest.errors import DependencyError
from ingest.filters import Condition, Filters
from ingest.ports import ChunkStore, Encoders, Hit, QueryVectors, StoredChunk
from ingest.scope import EVERYONE, Scope
from ingest.settings import QdrantSettings
from tests.fake_qdrant import FakeQdrant
from tests.fakes import a_chunk

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local")
DIMENSION = 8
BM25 = Bm25Encoder()
SCOPE = Scope("local")
HOSTILE = ["../x", "x' || tenant == 'y", "Ünïcødé 🗂", "n" * 200, "", "a\x00b", '{"$ne": ""}']


def vector(seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    values = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return np.asarray(values / np.linalg.norm(values), dtype=np.float32)


def stored(seed: int, text: str = "", **more: Any) -> StoredChunk:
    """Chunk number `seed`; `metadata`, `document_id` and `revision` go into the chunk."""
    inside = {k: more.pop(k) for k in ("metadata", "document_id", "revision") if k in more}
    chunk = a_chunk(chunk_id("test", "r", seed), text or f"word{seed} shared", **inside)
    place = {"tenant": "local", "knowledge_base": "kb", "acl": [EVERYONE]} | more
    return StoredChunk(chunk, dense=vector(seed), sparse=BM25.document(chunk.text), **place)


def query(seed: int = 0, text: str = "shared") -> QueryVectors:
    return QueryVectors(vector(seed), BM25.query(text))


async def search(store: ChunkStore, vectors: QueryVectors | None = None, **more: Any) -> list[Hit]:
    asked = {"limit": 50, "filters": Filters()} | more
    scope, base = asked.pop("scope", SCOPE), asked.pop("base", "kb")
    return await store.search(scope, base, vectors or query(), **asked)


def ids(hits: list[Hit]) -> set[str]:
    return {hit.chunk.chunk_id for hit in hits}


def names(*chunks: StoredChunk) -> set[str]:
    return {one.chunk.chunk_id for one in chunks}


def cut_short(folder: Path, left: list[str]) -> None:
    """Leaves the folders of a store and these files, as a crash at its making could."""
    for file in [f for f in folder.rglob("*") if f.is_file() and f.name not in left]:
        file.unlink()


SERVER = os.environ.get("CRAG_TEST_QDRANT_URL")
NO_SERVER = "no Qdrant server: CRAG_TEST_QDRANT_URL is not set"
REAL = [
    pytest.param(kind, marks=pytest.mark.skipif(not SERVER, reason=NO_SERVER))
    for kind in ("server", "server, gRPC")
]
SERVERS = ["local mode", "http", *REAL]
"""qdrant-client's own local mode, the same behind Qdrant's HTTP interface, and a real server."""


@asynccontextmanager
async def opened(kind: str, folder: Path, dimension: int = DIMENSION) -> AsyncIterator[ChunkStore]:
    encoders = Encoders("an embedder", BM25.fingerprint, dimension)
    settings = QdrantSettings(url=SERVER, prefix=f"test-{uuid.uuid4().hex[:8]}")
    over_grpc = settings.model_copy(update={"prefer_grpc": True})
    kinds: dict[str, Callable[[], ChunkStore]] = {
        "edge": lambda: QdrantEdgeStore(folder / "edge", dimension),
        "memory": MemoryStore,
        "local mode": lambda: QdrantServerStore(AsyncQdrantClient(":memory:"), settings, encoders),
        "http": lambda: QdrantServerStore(FakeQdrant().client(), settings, encoders),
        "server": lambda: QdrantServerStore(connect(settings), settings, encoders),
        "server, gRPC": lambda: QdrantServerStore(connect(over_grpc), over_grpc, encoders),
    }
    store = kinds[kind]()
    yield store
    await store.close()
    if kind.startswith("server"):
        await _delete_all(settings)


async def _delete_all(settings: QdrantSettings) -> None:
    client = connect(settings)
    for one in (await client.get_collections()).collections:
        if one.name.startswith(settings.prefix):
            await client.delete_collection(one.name)
    await client.close()


@pytest.fixture
async def edge(store_path: Path) -> Any:
    async with opened("edge", store_path) as store:
        yield store


@pytest.fixture(params=["edge", *SERVERS])
async def engine(request: pytest.FixtureRequest, store_path: Path) -> Any:
    """A store that is not this repository's own arithmetic."""
    async with opened(request.param, store_path) as store:
        yield store


@pytest.fixture(params=["edge", "memory", *SERVERS])
async def store(request: pytest.FixtureRequest, store_path: Path) -> Any:
    async with opened(request.param, store_path) as store:
        yield store


async def test_returns_the_chunk_as_it_was_stored(store: ChunkStore) -> None:
    one = stored(1, "Text with ümlaut", metadata={"language": "de", "source": "a/b.md"})
    one = replace(one, chunk=replace(one.chunk, heading="A > B", page=3))
    await store.upsert([one])
    (hit,) = await search(store)
    assert hit.chunk == one.chunk


async def test_upsert_replaces_the_same_chunk_id(store: ChunkStore) -> None:
    await store.upsert([stored(1, "old")])
    await store.upsert([replace(stored(1, "new"), dense=vector(9))])
    (hit,) = await search(store, query(9, "new"))
    assert await store.count("local", "kb") == 1
    assert hit.chunk.text == "new"
    assert hit.dense == pytest.approx(1.0, abs=1e-5)
    assert hit.bm25 > 0


async def test_an_upsert_of_nothing_is_fine(store: ChunkStore) -> None:
    await store.upsert([])
    assert await store.count("local", "kb") == 0


async def test_a_base_that_never_was_finds_nothing(store: ChunkStore) -> None:
    assert await search(store, base="never") == []
    assert await store.count("local", "never") == 0
    await store.delete_knowledge_base("local", "never")
    await store.delete_revision("local", "never", "d", "r")


async def test_every_hit_has_the_scores_of_both_arms(store: ChunkStore) -> None:
    near, worded = stored(1, "nothing in common"), stored(2, "zebra zebra")
    await store.upsert([near, worded, *(stored(n, f"filler{n}") for n in range(3, 30))])
    hits = {h.chunk.chunk_id: h for h in await search(store, query(1, "zebra"), limit=1)}
    assert set(hits) == names(near, worded)
    assert hits[near.chunk.chunk_id].dense == pytest.approx(1.0, abs=1e-5)
    assert hits[near.chunk.chunk_id].bm25 == 0
    cosine = float(vector(1) @ vector(2))
    assert hits[worded.chunk.chunk_id].dense == pytest.approx(cosine, abs=1e-5)
    assert hits[worded.chunk.chunk_id].bm25 > 0


async def test_limit_holds_for_each_arm(store: ChunkStore) -> None:
    await store.upsert([stored(n) for n in range(30)])
    assert len(await search(store, query(3, "word7 word8 word9"), limit=3)) <= 6
    assert len(await search(store, query(3, "nowhere"), limit=3)) == 3


async def test_a_query_of_stop_words_only_is_answered_by_the_dense_arm(store: ChunkStore) -> None:
    await store.upsert([stored(1), stored(2)])
    hits = await search(store, query(1, "the of and"))
    assert {hit.bm25 for hit in hits} == {0}
    assert len(hits) == 2


async def test_another_tenant_sees_nothing(store: ChunkStore) -> None:
    mine, theirs = stored(1), stored(2, tenant="other")
    await store.upsert([mine, theirs])
    assert ids(await search(store)) == names(mine)
    assert ids(await search(store, scope=Scope("other"))) == names(theirs)
    every = [mine.chunk.chunk_id, theirs.chunk.chunk_id]
    assert set(await store.score(SCOPE, "kb", query(), every)) == names(mine)


async def test_another_knowledge_base_is_apart(store: ChunkStore) -> None:
    here, there = stored(1), stored(2, knowledge_base="two")
    await store.upsert([here, there])
    assert ids(await search(store)) == names(here)
    assert ids(await search(store, base="two")) == names(there)


async def test_only_readable_chunks_are_found(store: ChunkStore) -> None:
    public, legal, nobody = stored(1), stored(2, acl=["legal", "board"]), stored(3, acl=[])
    await store.upsert([public, legal, nobody])
    assert ids(await search(store)) == names(public)
    assert ids(await search(store, scope=Scope("local", ["legal"]))) == names(public, legal)
    every = [one.chunk.chunk_id for one in (public, legal, nobody)]
    assert set(await store.score(SCOPE, "kb", query(), every)) == names(public)


async def test_metadata_cannot_move_a_chunk_to_another_place(store: ChunkStore) -> None:
    forged = {"tenant": "other", "knowledge_base": "two", "acl": "*", "document_id": "x"}
    one = stored(1, acl=["legal"], metadata=forged, document_id="real")
    await store.upsert([one])
    assert await search(store) == []
    (hit,) = await search(store, scope=Scope("local", ["legal"]))
    assert hit.chunk.document_id == "real"


async def test_filters_keep_and_exclude(store: ChunkStore) -> None:
    english = stored(1, metadata={"language": "en", "status": "current"})
    german = stored(2, metadata={"language": "de", "status": "superseded"})
    neither = stored(3)
    await store.upsert([english, german, neither])

    async def found(*conditions: Condition) -> set[str]:
        return ids(await search(store, filters=Filters(list(conditions))))

    assert await found(Condition("language", ["en"])) == names(english)
    assert await found(Condition("language", ["en", "de"])) == names(english, german)
    assert await found(Condition("language", ["de"], exclude=True)) == names(english, neither)
    old = Condition("status", ["superseded", "draft"], exclude=True)
    assert await found(Condition("language", ["en", "de"]), old) == names(english)
    assert await found(Condition("document_id", [german.chunk.document_id])) == names(german)
    assert await found(Condition("language", ["fr"])) == set()
    assert await found(Condition("language", [])) == set()


async def test_a_hostile_filter_value_is_only_a_value(store: ChunkStore) -> None:
    await store.upsert([stored(1, metadata={"version": "1"})])
    for hostile in HOSTILE:
        assert await search(store, filters=Filters([Condition("version", [hostile])])) == []


@pytest.mark.parametrize("hostile", ["../x' || tenant == 'y", "Ünïcødé 🗂" * 25, ""])
async def test_a_hostile_name_is_only_a_name(store: ChunkStore, hostile: str) -> None:
    plain = stored(1)
    odd = stored(
        2, tenant=hostile, knowledge_base=hostile, metadata={"version": hostile}, revision=hostile
    )
    await store.upsert([plain, odd])
    assert ids(await search(store)) == names(plain)
    assert ids(await search(store, scope=Scope(hostile), base=hostile)) == names(odd)
    await store.delete_revision(hostile, hostile, odd.chunk.document_id, hostile)
    assert await store.count(hostile, hostile) == 0
    await store.delete_knowledge_base(hostile, hostile)
    assert ids(await search(store)) == names(plain)


async def test_names_are_not_joined_into_each_other(store: ChunkStore) -> None:
    one = stored(1, tenant="a\x00b", knowledge_base="c")
    await store.upsert([one])
    assert await search(store, scope=Scope("a"), base="b\x00c") == []


async def test_deletes_one_revision_of_one_document(store: ChunkStore) -> None:
    old, new = stored(1, document_id="d", revision="1"), stored(2, document_id="d", revision="2")
    other = stored(3, document_id="e", revision="1")
    await store.upsert([old, new, other])
    await store.delete_revision("local", "kb", "d", "1")
    assert ids(await search(store)) == names(new, other)
    assert await store.count("local", "kb") == 2


async def test_an_access_list_is_changed_for_all_chunks_of_one_document(store: ChunkStore) -> None:
    mine = [stored(1, document_id="d"), stored(2, document_id="d", revision="2")]
    other = stored(3, document_id="e")
    elsewhere = stored(4, document_id="d", knowledge_base="two")
    await store.upsert([*mine, other, elsewhere])
    await store.set_acl("local", "kb", "d", ["group:hr", "user:x' || tenant == 'y"])
    in_hr, odd = Scope("local", ["group:hr"]), Scope("local", ["user:x' || tenant == 'y"])
    outside = Scope("local", ["group:h", "user:x", 'group:{"$ne": ""}', "group:HR", "group:hr "])
    assert ids(await search(store)) == names(other)
    assert ids(await search(store, scope=outside)) == names(other)
    assert ids(await search(store, scope=in_hr)) == names(*mine, other)
    assert ids(await search(store, scope=odd)) == names(*mine, other)
    assert ids(await search(store, base="two")) == names(elsewhere)
    everything = [one.chunk.chunk_id for one in (*mine, other)]
    assert set(await store.score(SCOPE, "kb", query(), everything)) == names(other)
    assert len(await store.score(in_hr, "kb", query(), everything)) == 3
    await store.set_acl("local", "kb", "d", [EVERYONE])
    assert ids(await search(store)) == names(*mine, other)
    await store.set_acl("local", "kb", "d", [])
    assert ids(await search(store, scope=in_hr)) == names(other)
    await store.set_acl("local", "no such base", "d", [EVERYONE])
    await store.set_acl("local", "kb", "x' || document_id == 'd", [EVERYONE])
    assert ids(await search(store)) == names(other)


async def test_reads_a_revision_as_it_was_written(store: ChunkStore) -> None:
    mine = {"document_id": "d", "revision": "1", "acl": ["legal"]}
    two, one = stored(2, "the of and", **mine), stored(1, "zebra stripes", **mine)
    two = replace(two, chunk=replace(two.chunk, ordinal=1))
    await store.upsert([two, one, stored(3, document_id="d", revision="2")])
    found = await store.read_revision("local", "kb", "d", "1")
    for got, wanted in zip(found, [one, two], strict=True):
        assert (got.chunk, got.acl, got.tenant) == (wanted.chunk, ["legal"], "local")
        assert got.dense == pytest.approx(wanted.dense, abs=1e-6)
        terms = dict(zip(got.sparse.indices, got.sparse.values, strict=True))
        wanted_terms = zip(wanted.sparse.indices, wanted.sparse.values, strict=True)
        assert terms == pytest.approx(dict(wanted_terms), abs=1e-6)
    assert await store.read_revision("local", "kb", "d", "3") == []
    assert await store.read_revision("local", "other", "d", "1") == []


async def test_deletes_one_knowledge_base(store: ChunkStore) -> None:
    here, there = stored(1), stored(2, knowledge_base="two")
    await store.upsert([here, there])
    await store.delete_knowledge_base("local", "kb")
    assert await search(store) == []
    assert ids(await search(store, base="two")) == names(there)
    await store.upsert([here])
    assert ids(await search(store)) == names(here)


async def test_score_leaves_out_the_unknown(store: ChunkStore) -> None:
    one, two = stored(1), stored(2, "other words")
    await store.upsert([one, two])
    named = [one.chunk.chunk_id, two.chunk.chunk_id, chunk_id("no", "such", 1)]
    scores = await store.score(SCOPE, "kb", query(1), named)
    assert set(scores) == names(one, two)
    assert scores[one.chunk.chunk_id][0] == pytest.approx(1.0, abs=1e-5)
    assert scores[two.chunk.chunk_id][1] == 0
    assert await store.score(SCOPE, "kb", query(1), []) == {}


async def test_all_stores_give_the_same_scores(engine: ChunkStore) -> None:
    memory = MemoryStore()
    chunks = [stored(n, f"word{n % 7} shared " + "many " * (n % 5)) for n in range(60)]
    again = [replace(stored(n, f"renewed word{n}"), dense=vector(n + 100)) for n in range(0, 60, 9)]
    for kind in (memory, engine):
        await kind.upsert(chunks)
        await kind.upsert(again)
        await kind.delete_revision("local", "kb", chunks[4].chunk.document_id, "r1")
    for step in ("as written", "after optimize"):
        for seed, text in [(3, "shared word3"), (8, "many renewed"), (120, "word5 word6 nowhere")]:
            asked = query(seed, text)
            exact = {h.chunk.chunk_id: h for h in await search(memory, asked, limit=20)}
            found = {h.chunk.chunk_id: h for h in await search(engine, asked, limit=20)}
            for key in exact.keys() & found.keys():
                assert found[key].dense == pytest.approx(exact[key].dense, abs=1e-3), step
                assert found[key].bm25 == pytest.approx(exact[key].bm25, abs=1e-3), step
            assert len(exact.keys() & found.keys()) >= 0.8 * len(exact), step
            scored = await engine.score(SCOPE, "kb", asked, list(exact))
            for key, hit in exact.items():
                assert scored[key] == pytest.approx((hit.dense, hit.bm25), abs=1e-3), step
        await engine.optimize()


async def test_edge_survives_close_and_reopen(store_path: Path) -> None:
    first = QdrantEdgeStore(store_path, DIMENSION)
    one, two = stored(1), stored(2, knowledge_base="two")
    await first.upsert([one, two])
    before = await search(first)
    await first.close()
    second = QdrantEdgeStore(store_path, DIMENSION)
    assert await search(second) == before
    assert ids(await search(second, base="two")) == names(two)
    await second.upsert([stored(3)])
    assert await second.count("local", "kb") == 2
    await second.close()


async def test_a_closed_edge_store_says_so(store_path: Path) -> None:
    store = QdrantEdgeStore(store_path, DIMENSION)
    await store.upsert([stored(1)])
    await store.close()
    with pytest.raises(DependencyError):
        await search(store)


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_closed_client_says_so(kind: str, store_path: Path) -> None:
    async with opened(kind, store_path) as store:
        await store.upsert([stored(1)])
        await store.close()
        with pytest.raises(DependencyError):
            await search(store)


async def test_a_vector_of_another_dimension_is_an_error_of_the_store(
    engine: ChunkStore,
) -> None:
    await engine.upsert([stored(1)])
    with pytest.raises(DependencyError):
        await search(engine, QueryVectors(np.ones(3, np.float32), BM25.query("shared")))
    with pytest.raises(DependencyError):
        await engine.upsert([replace(stored(2), dense=np.ones(3, np.float32))])
    assert await engine.count("local", "kb") == 1


@pytest.mark.parametrize("left", [[], ["edge_config.json"]])
async def test_a_shard_whose_making_was_cut_short_is_made_again(
    store_path: Path, left: list[str]
) -> None:
    first = QdrantEdgeStore(store_path, DIMENSION)
    await first.upsert([stored(1)])
    await first.close()
    cut_short(store_path, left)
    second = QdrantEdgeStore(store_path, DIMENSION)
    await second.upsert([stored(1)])
    assert await second.count("local", "kb") == 1
    await second.close()


async def test_concurrent_tasks_lose_and_double_nothing(store: ChunkStore) -> None:
    async def write(part: int) -> None:
        for n in range(part * 4, part * 4 + 4):
            await store.upsert([stored(n)])

    async def read() -> None:
        for n in range(20):
            for hit in await search(store, query(n), limit=10):
                assert hit.chunk.text.endswith("shared")

    await asyncio.gather(*(write(part) for part in range(5)), *(read() for _ in range(3)))
    assert await store.count("local", "kb") == 20


async def test_edge_is_safe_under_threads_that_write_read_and_optimize(
    edge: QdrantEdgeStore,
) -> None:
    def work(part: int) -> None:
        async def all_of_it() -> None:
            for n in range(part * 4, part * 4 + 4):
                await edge.upsert([stored(n)])
                await search(edge, query(n), limit=5)
                await edge.delete_revision("local", "kb", f"doc-gone-{n}", "r1")
            await edge.optimize()

        asyncio.run(all_of_it())

    with ThreadPoolExecutor(4) as pool:
        await asyncio.to_thread(lambda: list(pool.map(work, range(4))))
    assert await edge.count("local", "kb") == 16


async def test_deleting_a_base_under_searches_is_empty_or_a_store_error(
    engine: ChunkStore,
) -> None:
    async def read() -> None:
        for _ in range(30):
            try:
                await search(engine)
            except DependencyError:
                return

    await engine.upsert([stored(n) for n in range(50)])
    await asyncio.gather(read(), read(), engine.delete_knowledge_base("local", "kb"), read())
    assert await engine.count("local", "kb") == 0


@pytest.fixture(scope="module")
def clustered() -> list[StoredChunk]:
    """500 points in 20 clusters, as real vectors lie; 1 % and 10 % and all carry a language."""
    random = np.random.default_rng(7)
    centres = random.normal(size=(20, 16))
    found = []
    for n in range(500):
        dense = (centres[n % 20] + 0.3 * random.normal(size=16)).astype(np.float32)
        share = "one" if n % 100 == 0 else "ten" if n % 10 == 0 else "rest"
        one = stored(n, f"word{n}", metadata={"language": share})
        found.append(replace(one, dense=dense / np.linalg.norm(dense)))
    return found


@pytest.mark.parametrize("kind", ["edge", *REAL])  # the others search without an index
@pytest.mark.parametrize(
    ("percent", "languages"), [(100, ["one", "ten", "rest"]), (10, ["one", "ten"]), (1, ["one"])]
)
async def test_a_filter_costs_no_recall(
    store_path: Path,
    clustered: list[StoredChunk],
    percent: int,
    languages: list[str],
    kind: str,
) -> None:
    async with opened(kind, store_path, dimension=16) as engine:
        await _recalls(engine, clustered, percent, Filters([Condition("language", languages)]))


async def _recalls(
    engine: ChunkStore, clustered: list[StoredChunk], percent: int, filters: Filters
) -> None:
    exact = MemoryStore()
    for store in (engine, exact):
        await store.upsert(clustered)
        await store.optimize()
    recalled = wanted = 0
    for one in clustered[::25]:
        asked = QueryVectors(one.dense, BM25.query("nowhere"))
        best = ids(await search(exact, asked, limit=10, filters=filters))
        found = ids(await search(engine, asked, limit=10, filters=filters))
        assert len(found) == len(best) == min(10, 5 * percent)
        recalled, wanted = recalled + len(best & found), wanted + len(best)
    assert recalled / wanted >= 0.99
