"""What every Limiter must do: in the process, and in a real Redis that several processes share."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from pydantic import SecretStr

from api.adapters import redis_limits
from api.adapters.memory_limits import MemoryLimits
from api.adapters.redis_limits import RedisLimits
from api.limits import Limiter
from graph.settings import RedisSettings
from ingest.errors import ConfigurationError, DependencyError
from tests.redis_server import RedisServer

Open = Callable[[], Limiter]


def on(server: RedisServer) -> RedisLimits:
    return RedisLimits(RedisSettings(url=SecretStr(server.url)))


@pytest.fixture(params=["memory", "redis"])
async def open_limiter(request: pytest.FixtureRequest) -> AsyncIterator[Open]:
    """Opens the same counts again and again, as several processes do; in memory there is one."""
    opened: list[Limiter] = [MemoryLimits()]
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("redis")
        server.flush()

    def open_() -> Limiter:
        if request.param == "redis":
            opened.append(on(server))
        return opened[-1]

    yield open_
    for limiter in opened:
        await limiter.close()


async def take(limiter: Limiter, subject: str, per_minute: int) -> float:
    """The seconds that it has to wait for one more; 0 where it was counted."""
    return (await limiter.take({subject: per_minute})).get(subject, 0.0)


async def test_a_minutes_requests_come_at_once_and_then_evenly(open_limiter: Open) -> None:
    one, other = open_limiter(), open_limiter()
    taken = [await take(limiter, "ann", 3) for limiter in (one, other, one)]
    assert taken == [0] * 3
    assert 19 < await take(other, "ann", 3) <= 20
    assert await take(other, "bob", 3) == 0


async def test_a_request_comes_back_with_its_time(open_limiter: Open) -> None:
    limiter = open_limiter()
    taken = [await take(limiter, "ann", 300) for _ in range(300)]
    assert taken.count(0) == 300
    wait_s = 0.0
    while not wait_s:  # a slow machine gives some back meanwhile
        wait_s = await take(limiter, "ann", 300)
    assert 0 < wait_s <= 0.2
    await asyncio.sleep(wait_s)
    assert await take(limiter, "ann", 300) == 0


async def test_many_at_once_take_no_more_than_there_are(open_limiter: Open) -> None:
    limiters = [open_limiter() for _ in range(4)]
    waits = await asyncio.gather(*(take(limiters[n % 4], "ann", 20) for n in range(60)))
    assert waits.count(0) == 20


async def test_a_request_counts_for_a_key_and_its_tenant_or_for_neither(
    open_limiter: Open,
) -> None:
    limiter = open_limiter()
    ann, bob = {"acme ann": 2, "acme": 3}, {"acme bob": 5, "acme": 3}
    assert [await limiter.take(one) for one in (ann, ann)] == [{}, {}]
    assert (await limiter.take(ann)).keys() == {"acme ann"}
    assert await limiter.take(bob) == {}, "what ann was refused took nothing from her tenant"
    over = [await limiter.take(bob) for _ in range(3)]
    assert [one.keys() for one in over] == [{"acme"}] * 3
    assert 15 < over[0]["acme"] <= 20
    alone = [await take(limiter, "acme bob", 5) for _ in range(5)]
    assert alone.count(0) == 4, "what the tenant was refused took nothing from bob"


async def test_first_come_first_served_also_when_others_leave(open_limiter: Open) -> None:
    one, other = open_limiter(), open_limiter()

    async def place(limiter: Limiter, run: str) -> str:
        return await limiter.place("ann", run, running=1, waiting=3)

    assert [await place(one, run) for run in "abcd"] == ["running", *["waiting"] * 3]
    assert await place(other, "e") == "full"
    assert await place(other, "a") == "running"
    await other.leave("ann", "b")
    assert await place(other, "e") == "waiting"
    await one.leave("ann", "a")
    assert [await place(other, run) for run in "edc"] == ["waiting", "waiting", "running"]
    await one.leave("ann", "c")
    assert [await place(one, run) for run in "ed"] == ["waiting", "running"]
    assert await one.place("bob", "a", running=1, waiting=0) == "running"


async def test_a_newcomer_does_not_overtake(open_limiter: Open) -> None:
    limiter = open_limiter()
    for run in "ab":
        await limiter.place("ann", run, running=1, waiting=5)
    await limiter.leave("ann", "a")
    assert await limiter.place("ann", "c", running=1, waiting=5) == "waiting"
    assert await limiter.place("ann", "b", running=1, waiting=5) == "running"


async def test_tokens_add_up_for_the_day(open_limiter: Open) -> None:
    one, other = open_limiter(), open_limiter()
    assert await one.spent("ann") == 0
    await asyncio.gather(*(limiter.spend("ann", 70) for limiter in (one, other) for _ in range(5)))
    assert (await other.spent("ann"), await one.spent("bob")) == (700, 0)


async def test_a_killed_process_gives_its_places_back(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_limits, "LEASE_S", 1)
    redis.flush()
    limiter = on(redis)
    places = [await limiter.place("ann", run, running=1, waiting=1) for run in ("dead", "waits")]
    assert places == ["running", "waiting"]
    assert await limiter.place("ann", "new", running=1, waiting=1) == "full"
    await asyncio.sleep(1.05)
    assert await limiter.place("ann", "new", running=1, waiting=1) == "running"
    await limiter.close()


async def test_no_name_of_a_user_stands_in_redis(redis: RedisServer) -> None:
    redis.flush()
    limiter = on(redis)
    await take(limiter, "acme crag_1 user:ann", 5)
    await limiter.place("acme crag_1 user:ann", "r", running=1, waiting=1)
    await limiter.spend("acme crag_1 user:ann", 5)
    keys = await limiter._redis.keys()
    assert len(keys) == 3 and all(key.startswith("crag:limits:{") for key in keys)
    assert "ann" not in " ".join(keys)
    assert min([await limiter._redis.ttl(key) for key in keys]) > 0
    await limiter.close()


async def test_a_redis_that_is_away_says_so_and_comes_back(redis: RedisServer) -> None:
    limiter = on(redis)
    redis.stop()
    with pytest.raises(DependencyError):
        await take(limiter, "ann", 1)
    redis.start()
    assert await take(limiter, "ann", 1) == 0
    await limiter.close()


def test_an_address_that_is_none_is_refused_at_start() -> None:
    with pytest.raises(ConfigurationError):
        RedisLimits(RedisSettings(url=SecretStr("http://nowhere")))
