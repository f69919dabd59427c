"""Limits over HTTP: what is one too many is a 429 with its time, what is too large a 413 or 422."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from pydantic import SecretStr

from api import admission
from api.adapters import redis_limits
from api.app import create_app
from api.dependencies import place_of_search, started_run, streamed_run
from api.keys import limit, new_key, store_key
from api.settings import LimitSettings, Settings, TenantLimits
from api.stored_keys import open_keys
from graph.runner import Event, Runner
from graph.settings import RedisSettings
from tests.api_clients import TOKEN, client_of, served, settings_on
from tests.api_fakes import ENTRY, FakeService
from tests.redis_server import RedisServer

ASK = {"question": "q", "knowledge_base": "handbook"}
SLOW = {"question": "slow", "knowledge_base": "handbook"}


def limited(folder: Path, **limits: Any) -> Settings:
    settings = settings_on(folder)
    return settings.model_copy(update={"limits": LimitSettings(**limits)})


def key_of(settings: Settings, tenant: str = "acme", **limits: int) -> dict[str, str]:
    store = open_keys(settings)
    key = new_key(tenant, scopes=["ask", "ingest", "admin"], limits=limits)
    told = store_key(store, key)
    store.close()
    return {"Authorization": f"Bearer {told}"}


async def cancel_the_one(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    """Once there is one that runs."""
    async with asyncio.timeout(5):
        while not (running := (await client.get("/v1/runs", headers=headers)).json()["running"]):
            pass
    await client.post(f"/v1/runs/{running[0]['run_id']}/cancel", headers=headers)


def test_each_route_that_searches_takes_a_place() -> None:
    """A new route that asks or searches fails here until it waits for its turn."""
    app = create_app(Settings(), open_service=FakeService())
    taking = set()
    for route in iter_route_contexts(app.routes):
        dependants = [route.dependant] if hasattr(route, "dependant") else []
        while dependants:
            one = dependants.pop()
            dependants += one.dependencies
            if one.call in (started_run, streamed_run, place_of_search):
                taking.add(route.path)
    asking = {path for path, methods in app.openapi()["paths"].items() if "ask" in _tags(methods)}
    assert taking == asking != set()


def _tags(methods: dict[str, Any]) -> set[str]:
    return {tag for method in methods.values() for tag in method.get("tags", [])}


async def test_requests_of_one_key_are_limited_and_nobody_elses(tmp_path: Path) -> None:
    settings = limited(tmp_path, requests_per_minute=2)
    ann, bob = key_of(settings), key_of(settings, "globex")
    mine = key_of(settings, requests_per_minute=3)
    async with client_of(settings, FakeService(), token=TOKEN) as client:

        async def statuses(headers: dict[str, str], count: int) -> list[int]:
            answers = [
                await client.get("/v1/knowledge-bases", headers=headers) for _ in range(count)
            ]
            return [answer.status_code for answer in answers]

        assert await statuses(ann, 3) == [200, 200, 429]
        refused = await client.post("/v1/ask", json=ASK, headers=ann)
        assert await statuses(bob, 3) == [200, 200, 429]
        assert await statuses(mine, 4) == [200, 200, 200, 429]
        assert await statuses({"Authorization": f"Bearer {TOKEN}"}, 5) == [200] * 5
        assert (await client.get("/livez")).status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert 20 <= int(refused.headers["retry-after"]) <= 30


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/ask/stream", "/v1/search"])
async def test_one_too_many_is_refused_on_every_route_of_runs(tmp_path: Path, path: str) -> None:
    service = FakeService()
    async with client_of(limited(tmp_path, running=1, waiting=0), service) as client:
        slow = asyncio.create_task(client.post("/v1/ask", json=SLOW))
        await service.runner.waiting.wait()
        refused = await client.post(path, json=ASK)
        slow.cancel()
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["retry-after"] == "5"


async def test_who_waits_is_answered_when_a_place_comes_free(tmp_path: Path) -> None:
    service = FakeService()
    async with client_of(limited(tmp_path, running=1, waiting=1), service) as client:
        slow = asyncio.create_task(client.post("/v1/ask", json=SLOW))
        await service.runner.waiting.wait()
        waits = asyncio.create_task(client.post("/v1/ask", json=ASK))
        await asyncio.sleep(0.05)
        assert not waits.done()
        full = await client.post("/v1/ask", json=ASK)
        await cancel_the_one(client, {})
        assert (await waits).json()["outcome"] == "answered"
        assert (await slow).json()["code"] == "cancelled"
    assert full.status_code == 429


def test_who_leaves_while_it_waits_makes_room(tmp_path: Path) -> None:
    service = FakeService()
    settings = limited(tmp_path, running=1, waiting=1)
    with served(settings, service) as url, httpx.Client(base_url=url, trust_env=False) as client:
        with client.stream("POST", "/v1/ask/stream", json=SLOW, timeout=20) as running:
            lines = running.iter_lines()  # kept: without it the client leaves
            assert next(lines) == "event: run"
            with pytest.raises(httpx.ReadTimeout):
                client.post("/v1/ask", json=ASK, timeout=0.3)
            with pytest.raises(httpx.ReadTimeout):  # it waits: a 429 would come at once
                client.post("/v1/ask", json=ASK, timeout=1)
        assert client.post("/v1/ask", json=ASK, timeout=20).json()["outcome"] == "answered"
        assert [ask.question for ask in service.runner.asked] == ["slow", "q"]


async def test_a_wait_ends_with_its_time(tmp_path: Path) -> None:
    service = FakeService()
    async with client_of(limited(tmp_path, running=1, wait_s=0.05), service) as client:
        slow = asyncio.create_task(client.post("/v1/ask", json=SLOW))
        await service.runner.waiting.wait()
        refused = await client.post("/v1/ask", json=ASK)
        slow.cancel()
    assert refused.status_code == 429
    assert "no place came free in 0.05 s" in refused.json()["detail"]


async def test_one_key_cannot_take_the_places_of_another(tmp_path: Path) -> None:
    """Of this process's places: the next one that comes free goes to the other key."""
    service = FakeService()
    settings = limited(tmp_path).model_copy(update={"api": settings_on(tmp_path, max_runs=1).api})
    ann, bob = key_of(settings), key_of(settings, "globex")
    async with client_of(settings, service) as client:
        many = [asyncio.create_task(client.post("/v1/ask", json=SLOW, headers=ann)) for _ in "123"]
        await service.runner.waiting.wait()
        await asyncio.sleep(0.05)
        other = asyncio.create_task(client.post("/v1/ask", json=SLOW, headers=bob))
        await asyncio.sleep(0.05)
        for turn in (ann, bob, ann):
            await cancel_the_one(client, turn)
        for task in (*many, other):
            task.cancel()
    tenants = [ask.scope.tenant for ask in service.runner.asked]
    assert tenants[:3] == ["acme", "globex", "acme"]


async def test_the_keys_of_a_tenant_share_its_requests(tmp_path: Path) -> None:
    settings = limited(tmp_path, tenant=TenantLimits(requests_per_minute=2))
    ann, bob, other = key_of(settings), key_of(settings), key_of(settings, "globex")
    async with client_of(settings, FakeService(), token=TOKEN) as client:
        answers = [
            await client.get("/v1/knowledge-bases", headers=headers)
            for headers in (ann, bob, ann, bob, other)
        ]
        local = await client.get("/v1/runs", headers={"Authorization": f"Bearer {TOKEN}"})
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429, 200]
    assert "this tenant's limit" in answers[2].json()["detail"]
    assert 20 <= int(answers[2].headers["retry-after"]) <= 30
    assert local.status_code == 200


async def test_the_keys_of_a_tenant_share_its_places(tmp_path: Path) -> None:
    service = FakeService()
    settings = limited(tmp_path, tenant=TenantLimits(running=1, waiting=1))
    ann, bob, other = key_of(settings), key_of(settings), key_of(settings, "globex")
    async with client_of(settings, service) as client:
        slow = asyncio.create_task(client.post("/v1/ask", json=SLOW, headers=ann))
        await service.runner.waiting.wait()
        waits = asyncio.create_task(client.post("/v1/ask", json=ASK, headers=bob))
        await asyncio.sleep(0.05)
        assert not waits.done()
        full = await client.post("/v1/ask", json=ASK, headers=ann)
        assert (await client.post("/v1/ask", json=ASK, headers=other)).status_code == 200
        await cancel_the_one(client, ann)
        assert (await waits).json()["outcome"] == "answered"
        await slow
        assert (await client.post("/v1/ask", json=ASK, headers=ann)).status_code == 200
    assert full.status_code == 429
    assert "1 runs of this tenant go on and 1 wait" in full.json()["detail"]


class Spending:
    """Each run takes 60 tokens."""

    async def stream(self, ask: Any) -> AsyncIterator[Event]:
        yield Event(1, "run", {"run_id": "r", "question": ask.question})
        yield Event(2, "node", {"entry": {**ENTRY, "summary": {"chat_calls": 1, "tokens": 60}}})
        yield Event(3, "answer", {"outcome": "answered", "answer": "yes"})


@asynccontextmanager
async def spending(settings: Settings) -> AsyncIterator[Any]:
    from dataclasses import replace
    from typing import cast

    async with FakeService()(settings) as service:
        yield replace(service, runner=cast(Runner, Spending()))


async def test_the_tokens_of_a_day_are_limited(tmp_path: Path) -> None:
    async with client_of(limited(tmp_path, tokens_per_day=100), spending) as client:
        statuses = [(await client.post("/v1/ask", json=ASK)).status_code for _ in range(2)]
        refused = await client.post("/v1/ask", json=ASK)
    assert statuses == [200, 200]
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert 0 < int(refused.headers["retry-after"]) <= 86_400


async def test_the_keys_of_a_tenant_share_its_tokens(tmp_path: Path) -> None:
    settings = limited(tmp_path, tenant=TenantLimits(tokens_per_day=100))
    ann, bob, other = key_of(settings), key_of(settings), key_of(settings, "globex")
    async with client_of(settings, spending) as client:
        statuses = [
            (await client.post("/v1/ask", json=ASK, headers=headers)).status_code
            for headers in (ann, bob, ann, other)
        ]
    assert statuses == [200, 200, 429, 200]


async def test_a_key_has_its_own_sizes(tmp_path: Path) -> None:
    settings = limited(tmp_path)
    small = key_of(settings, question_chars=10, upload_mb=1)
    plain = key_of(settings)
    documents = "/v1/knowledge-bases/kb/documents?name=a.bin"
    big = b"a" * (1024 * 1024 + 1)

    async def streamed() -> AsyncIterator[bytes]:
        yield big

    async with client_of(settings, FakeService()) as client:
        await client.post("/v1/knowledge-bases", json={"name": "kb"}, headers=small)
        for path in ("/v1/ask", "/v1/search"):
            long = await client.post(path, json=ASK | {"question": "q" * 11}, headers=small)
            assert (long.status_code, long.json()["code"]) == (422, "invalid_request")
        for body in (big, streamed()):
            too_large = await client.post(documents, content=body, headers=small)
            assert (too_large.status_code, too_large.json()["code"]) == (413, "too_large")
            assert "1 MB" in too_large.json()["detail"]
        assert (await client.post(documents, content=big, headers=plain)).status_code == 200


async def test_a_limit_of_a_key_changes_at_once(tmp_path: Path) -> None:
    settings = limited(tmp_path)
    key = key_of(settings)
    async with client_of(settings, FakeService()) as client:
        before = await client.post("/v1/ask", json=ASK, headers=key)
        store = open_keys(settings)
        limit(store, key["Authorization"].split("_")[1], {"question_chars": 1, "running": 2})
        store.close()
        after = await client.post("/v1/ask", json=ASK | {"question": "qq"}, headers=key)
    assert (before.status_code, after.status_code) == (200, 422)


# Redis


def shared(folder: Path, redis: RedisServer, **limits: Any) -> Settings:
    section = RedisSettings(url=SecretStr(redis.url), timeout_s=0.5)
    return limited(folder, **limits).model_copy(update={"redis": section})


async def test_two_processes_share_places_and_requests(tmp_path: Path, redis: RedisServer) -> None:
    redis.flush()
    one, other = (
        shared(tmp_path / n, redis, running=1, requests_per_minute=9) for n in ("one", "other")
    )
    first, second = FakeService(), FakeService()
    async with client_of(one, first) as here, client_of(other, second) as there:
        slow = asyncio.create_task(here.post("/v1/ask", json=SLOW))
        await first.runner.waiting.wait()
        waits = asyncio.create_task(there.post("/v1/ask", json=ASK))
        await asyncio.sleep(0.1)
        assert second.runner.asked == []
        await cancel_the_one(here, {})
        assert (await waits).json()["outcome"] == "answered"
        await slow
        statuses = [(await there.get("/v1/runs")).status_code for _ in range(9)]
    assert statuses[0] == 200 and statuses[-1] == 429


async def test_a_run_that_waits_for_its_process_keeps_its_place_in_redis(
    tmp_path: Path, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_limits, "LEASE_S", 1)
    monkeypatch.setattr(admission, "KEEP_S", 0.2)
    redis.flush()
    service, settings = FakeService(), shared(tmp_path, redis, running=2, waiting=0)
    settings = settings.model_copy(update={"api": settings_on(tmp_path, max_runs=1).api})
    async with client_of(settings, service) as client:
        slow = asyncio.create_task(client.post("/v1/ask", json=SLOW))
        await service.runner.waiting.wait()
        waits = asyncio.create_task(client.post("/v1/ask", json=ASK))
        await asyncio.sleep(1.5)
        async with asyncio.timeout(5):
            refused = await client.post("/v1/ask", json=ASK)
        for task in (slow, waits):
            task.cancel()
    assert refused.status_code == 429


async def test_without_redis_each_process_counts_and_the_answer_says_so(
    tmp_path: Path, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "AWAY_S", 0.0)
    service = FakeService()
    settings = shared(tmp_path, redis, running=1, waiting=0)
    redis.stop()
    try:
        async with client_of(settings, service) as client:
            assert (await client.post("/v1/ask", json=ASK)).status_code == 200
            slow = asyncio.create_task(client.post("/v1/ask", json=SLOW))
            await service.runner.waiting.wait()
            refused = await client.post("/v1/ask", json=ASK)
            slow.cancel()
    finally:
        redis.start()
    assert [fault.node for fault in service.runner.asked[0].degraded] == ["limits"]
    assert refused.status_code == 429


async def test_without_redis_nothing_is_let_in_where_the_settings_say_so(
    tmp_path: Path, redis: RedisServer
) -> None:
    settings = shared(tmp_path, redis, without_redis="refuse")
    redis.stop()
    try:
        async with client_of(settings, FakeService()) as client:
            refused: httpx.Response = await client.post("/v1/ask", json=ASK)
    finally:
        redis.start()
    assert (refused.status_code, refused.json()["code"]) == (503, "dependency_down")
    assert "127.0.0.1" not in refused.text
