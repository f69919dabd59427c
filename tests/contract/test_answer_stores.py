"""What every store of kept answers does."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr

from graph.adapters.answer_cache import OVERHEAD, AnswerStore, MemoryAnswers, StoredAnswers
from graph.adapters.redis_answers import RedisAnswers
from graph.caching import open_cache
from graph.settings import GraphSettings, RedisSettings
from ingest.errors import DependencyError
from nodes.findings import Citation, Grade, Sentence, Support
from nodes.kept_answer import KeptAnswer
from nodes.state import Query
from tests.fakes import HashingEmbedder, a_candidate, a_chunk, a_citation
from tests.redis_server import RedisServer


@pytest.fixture(params=["memory", "redis"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[AnswerStore]:
    if request.param == "memory":
        store: AnswerStore = MemoryAnswers(megabytes=1, ttl_s=60)
    else:
        server = request.getfixturevalue("redis")
        server.flush()
        store = RedisAnswers(RedisSettings(url=SecretStr(server.url)), ttl_s=60)
    yield store
    await store.close()


def kept(question: str = "How long?") -> KeptAnswer:
    citation: Citation = a_citation(a_chunk("a"))
    return KeptAnswer(
        question=question,
        kept_at=1.5,
        draft=[Sentence("Passage a.", [citation], note="older", parts=["part"])],
        supports=[Support("Passage a.", "supported", 0.9)],
        confidence=0.8,
        queries=[Query("How long?", "part", 1)],
        candidates_seen=["a"],
        graded={"a": Grade("correct", 0.9)},
        near=[a_candidate("a")],
        documents=[("doc-a", "r1")],
    )


async def test_holds_what_was_put_last(store: AnswerStore) -> None:
    assert await store.get("k") is None
    await store.put("k", b"one")
    await store.put("k", b"two")
    assert await store.get("k") == b"two"
    assert await store.get("other") is None


async def test_an_answer_comes_back_as_it_was(
    store: AnswerStore, embedder: HashingEmbedder
) -> None:
    answers = StoredAnswers(store, embedder, versions="1", similarity=0.9)
    await answers.keep("k", kept())
    found = await answers.find("k", "how long")
    assert found is not None
    assert (found.answer, found.similarity) == (kept(), 1.0)


async def test_another_version_finds_nothing(store: AnswerStore, embedder: HashingEmbedder) -> None:
    await StoredAnswers(store, embedder, versions="1", similarity=0).keep("k", kept())
    other = StoredAnswers(store, embedder, versions="2", similarity=0)
    assert await other.find("k", "How long?") is None


async def test_a_question_that_is_not_near_finds_nothing(
    store: AnswerStore, embedder: HashingEmbedder
) -> None:
    answers = StoredAnswers(store, embedder, versions="1", similarity=0.9)
    await answers.keep("k", kept())
    assert await answers.find("k", "Where is the canteen?") is None


async def test_what_cannot_be_read_is_nothing(
    store: AnswerStore, embedder: HashingEmbedder
) -> None:
    class Spoiled(MemoryAnswers):
        async def get(self, key: str) -> bytes | None:
            return b'{"question": 1}'

    spoiled = Spoiled(megabytes=1, ttl_s=60)
    answers = StoredAnswers(spoiled, embedder, versions="1", similarity=0)
    assert await answers.find("k", "How long?") is None


async def test_memory_is_bounded_and_the_least_used_goes_first() -> None:
    store = MemoryAnswers(megabytes=3 * (OVERHEAD + 100) / 1_000_000, ttl_s=60)
    for key in "abc":
        await store.put(key, bytes(100))
    await store.get("a")
    await store.put("d", bytes(100))
    assert [key for key in "abcd" if await store.get(key)] == ["a", "c", "d"]
    await store.put("huge", bytes(10_000))
    assert await store.get("huge") is None


async def test_memory_forgets_after_its_time() -> None:
    now = [0.0]
    store = MemoryAnswers(megabytes=1, ttl_s=60, clock=lambda: now[0])
    await store.put("k", b"v")
    now[0] = 59.9
    assert await store.get("k") == b"v"
    now[0] = 60.0
    assert await store.get("k") is None


async def test_redis_forgets_after_its_time(redis: RedisServer) -> None:
    store = RedisAnswers(RedisSettings(url=SecretStr(redis.url)), ttl_s=1)
    await store.put("k", b"v")
    assert await store.get("k") == b"v"
    await asyncio.sleep(1.2)
    assert await store.get("k") is None
    await store.close()


async def test_two_services_on_one_redis_keep_apart(redis: RedisServer) -> None:
    one, other = (
        RedisAnswers(RedisSettings(url=SecretStr(redis.url), prefix=name), ttl_s=60)
        for name in ("one", "other")
    )
    await one.put("k", b"v")
    assert await other.get("k") is None
    await one.close()
    await other.close()


async def test_a_redis_that_is_away_is_a_dependency_error_without_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"redis://:secret@127.0.0.1:{free.getsockname()[1]}/0"
    store = RedisAnswers(RedisSettings(url=SecretStr(url)), ttl_s=60)
    for call in (store.get("k"), store.put("k", b"v")):
        with pytest.raises(DependencyError) as raised:
            await call
        assert "secret" not in str(raised.value)
    await store.close()


@pytest.mark.parametrize(
    ("changed", "shared"),
    [
        ({"data_dir": "/elsewhere"}, True),
        ({"dense_weight": 0.9}, False),
        ({"answer": {"sentences": 2}}, False),
        ({"chat": {"model": "openai:other"}}, False),
    ],
)
async def test_services_share_answers_where_their_settings_decide_alike(
    redis: RedisServer, embedder: HashingEmbedder, changed: dict[str, Any], shared: bool
) -> None:
    redis.flush()
    plain = {"redis": {"url": redis.url}}
    one, other = (
        open_cache(GraphSettings.model_validate(given), embedder, calibration="c")
        for given in (plain, plain | changed)
    )
    assert one is not None
    assert other is not None
    await one.keep("k", kept())
    assert (await other.find("k", "How long?") is not None) is shared
    await one.close()
    await other.close()
