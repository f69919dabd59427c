"""Who may ask, and when: keys, the local token, anonymous use, readiness."""

import asyncio
import logging
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import RouteContext, iter_route_contexts

from api.app import create_app
from api.dependencies import NEEDS
from api.keys import new_key, revoke, store_key
from api.request_id import MaskedLine
from api.settings import Settings
from api.stored_keys import open_keys
from ingest.errors import ConfigurationError
from tests.api_clients import TOKEN, client_of, settings_on
from tests.api_fakes import FakeService

KEYS = ["first-key", "second-key"]
HOLDS_NO_DATA = {
    "/livez",
    "/readyz",
    "/openapi.json",
    "/docs",
    "/docs/oauth2-redirect",
    "/redoc",
}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def test_every_v1_route_asks_for_the_key(tmp_path: Path) -> None:
    app = create_app(settings_on(tmp_path, keys=KEYS), open_service=FakeService())
    routes = [
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path.startswith("/v1")
    ]
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answers = [(await client.request(method, path)).json() for method, path in routes]
    assert len(routes) >= 14
    assert {answer["code"] for answer in answers} == {"unauthorized"}


def _scopes(route: RouteContext) -> set[object]:
    """The scope dependencies of a route; a mounted application has none."""
    dependants: list[Dependant] = [route.dependant] if hasattr(route, "dependant") else []
    found = set()
    while dependants:
        one = dependants.pop()
        dependants += one.dependencies
        found |= {one.call} & set(NEEDS)
    return found


def test_every_route_has_exactly_one_scope_or_is_known_to_hold_no_data(tmp_path: Path) -> None:
    """A new route fails here until it says who may call it."""
    app = create_app(settings_on(tmp_path), open_service=FakeService())
    found = {
        (str(route.path), *sorted(route.methods or [])): _scopes(route)
        for route in iter_route_contexts(app.routes)
    }
    assert set(app.openapi()["paths"]) <= {path for path, *_ in found}
    assert {path for (path, *_), scopes in found.items() if not scopes} == HOLDS_NO_DATA
    assert all(len(scopes) == 1 for (path, *_), scopes in found.items() if scopes), found


async def test_a_stored_key_opens_its_tenant_and_ends_anonymous_use(tmp_path: Path) -> None:
    settings = settings_on(tmp_path)
    async with client_of(settings, FakeService(), token=TOKEN) as client:
        before = await client.get("/v1/runs")
        with closing(open_keys(settings)) as store:
            key = new_key("acme", scopes=["ask"])
            told = bearer(store_key(store, key))
            first = await client.get("/v1/runs", headers=told)
            anonymous = await client.get("/v1/runs")
            local = await client.get("/v1/runs", headers=bearer(TOKEN))
            revoke(store, key.key_id)
        revoked = await client.get("/v1/runs", headers=told)
        still = await client.get("/v1/runs")
    assert [before.status_code, first.status_code, local.status_code] == [200, 200, 200]
    assert [anonymous.status_code, revoked.status_code, still.status_code] == [401, 401, 401]


async def test_a_key_does_what_its_scopes_say_and_the_rest_is_not_there(tmp_path: Path) -> None:
    settings = settings_on(tmp_path)
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/v1/knowledge-bases", {}),
        ("GET", "/v1/runs", {}),
        ("POST", "/v1/search", {"json": {"question": "q", "knowledge_base": "kb"}}),
        ("POST", "/v1/knowledge-bases/kb/documents?name=a.md", {"content": b"# A"}),
        ("POST", "/v1/knowledge-bases", {"json": {"name": "kb"}}),
    ]
    opens: dict[str, list[bool]] = {}
    async with client_of(settings, FakeService()) as client:
        with closing(open_keys(settings)) as store:
            for scope in ("ask", "ingest", "admin"):
                told = store_key(store, new_key("acme", scopes=[scope]))
                answers = [
                    await client.request(method, path, headers=bearer(told), **body)
                    for method, path, body in calls
                ]
                unknown = await client.get("/v1/nothing", headers=bearer(told))
                closed = [answer.json() == unknown.json() for answer in answers]
                assert all(a.status_code == 404 for a, c in zip(answers, closed, strict=True) if c)
                opens[scope] = [not one for one in closed]
    assert opens == {
        "ask": [True, True, True, False, False],
        "ingest": [True, False, False, True, False],
        "admin": [True, False, False, False, True],
    }


async def test_a_stored_key_is_enough_to_serve_others(tmp_path: Path) -> None:
    settings = Settings(host="0.0.0.0", data_dir=tmp_path / "crag")
    with closing(open_keys(settings)) as store:
        store_key(store, new_key("acme"))
    async with client_of(settings, FakeService()) as client:
        assert (await client.get("/v1/runs")).status_code == 401


async def test_any_key_and_the_local_token_open(tmp_path: Path) -> None:
    settings = settings_on(tmp_path, keys=KEYS)
    async with client_of(settings, FakeService(), token=TOKEN) as client:
        status = {
            key: (await client.get("/v1/runs", headers=bearer(key))).status_code
            for key in (*KEYS, TOKEN, "third-key", "first-key ", "")
        }
        none = await client.get("/v1/runs")
    assert [status[key] for key in (*KEYS, TOKEN)] == [200, 200, 200]
    assert status["third-key"] == 401
    assert (none.status_code, none.headers["www-authenticate"]) == (401, "Bearer")


async def test_without_keys_a_foreign_name_is_refused(tmp_path: Path) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        local = await client.get("/v1/runs")
        rebound = await client.get("/v1/runs", headers={"Host": "evil.example:8000"})
    assert (local.status_code, rebound.status_code) == (200, 401)


def test_another_host_needs_keys_or_an_explicit_yes(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="CRAG_API__KEYS"):
        create_app(Settings(host="0.0.0.0", data_dir=tmp_path))
    create_app(Settings(host="0.0.0.0", api={"keys": "k"}, data_dir=tmp_path))
    create_app(Settings(host="0.0.0.0", api={"allow_anonymous": True}, data_dir=tmp_path))
    create_app(Settings(host="::1", data_dir=tmp_path))


async def test_lives_but_is_not_ready_while_models_load(tmp_path: Path) -> None:
    service = FakeService(loading_s=0.3)
    async with client_of(settings_on(tmp_path), service, ready=False) as client:
        live = await client.get("/livez")
        ready = await client.get("/readyz")
        ask = await client.post("/v1/ask", json={"question": "q", "knowledge_base": "handbook"})
        await asyncio.sleep(0.5)
        later = await client.get("/readyz")
    assert (live.status_code, ready.status_code, later.status_code) == (200, 503, 200)
    assert (ask.status_code, ask.json()["code"]) == (503, "not_ready")


async def test_a_service_that_cannot_open_tells_its_hook(tmp_path: Path) -> None:
    (tmp_path / "crag").mkdir()
    (tmp_path / "crag" / "other").touch()
    failures: list[Exception] = []
    app = create_app(settings_on(tmp_path), open_service=FakeService(), failed=failures.append)
    async with app.router.lifespan_context(app):
        await asyncio.sleep(0.05)
    assert "CRAG_DATA_DIR" in str(failures[0])


async def test_ends_soon_while_models_load(tmp_path: Path) -> None:
    started = time.monotonic()
    ready: list[object] = []

    async def on_ready(service: object) -> None:
        ready.append(service)

    service = FakeService(loading_s=30)
    app = create_app(settings_on(tmp_path), open_service=service, ready=on_ready)
    async with app.router.lifespan_context(app):
        await asyncio.sleep(0.05)
    assert time.monotonic() - started < 2
    assert not ready


async def test_ends_soon_while_runs_go_on(tmp_path: Path) -> None:
    service = FakeService()
    async with client_of(settings_on(tmp_path), service) as client:
        body = {"question": "slow", "knowledge_base": "handbook"}
        asking = asyncio.create_task(client.post("/v1/ask", json=body))
        await service.runner.waiting.wait()
        leaving = time.monotonic()
    assert service.runner.cancelled.is_set()
    assert time.monotonic() - leaving < 1
    asking.cancel()


def test_nobody_writes_a_line_into_the_log() -> None:
    record = logging.LogRecord(
        "crag", logging.INFO, "", 0, "%s", ("/v1/a\n2026 INFO b\r\x1b[2J",), None
    )
    assert MaskedLine("%(message)s").format(record).split() == ["/v1/a", "2026", "INFO", "b", "[2J"]
    assert len(MaskedLine("%(message)s").format(record).splitlines()) == 1


def test_every_route_describes_itself(tmp_path: Path) -> None:
    app = create_app(settings_on(tmp_path))
    routes = [route for route in iter_route_contexts(app.routes) if hasattr(route, "summary")]
    assert len(routes) > 14
    assert all(route.summary for route in routes)
