"""Two tenants with the same documents and different canaries: neither sees a word of the other.

Inside a tenant the same holds for who may not read a document. Index, graph, cache of answers, log
of runs and threads are the real ones; all is asked over HTTP.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import httpx
import pytest

from api.app import create_app
from api.keys import KEY_SCOPES, new_key, store_key
from api.settings import Settings
from api.stored_keys import open_keys
from ingest.fusion import Fusion
from tests.api_clients import client_of, settings_on
from tests.api_fakes import FakeService
from tests.real_service import RealService

KB = "handbook"
BASES = f"/v1/knowledge-bases/{KB}"
QUESTION = "When are refunds paid?"
ACME, GLOBEX, HR = "zebrafink", "pelikan", "kolibri"
"""Canaries: words of one tenant's documents, questions and names, and of the group hr of acme."""

HOSTILE = [
    "x' || tenant == 'acme",
    '{"$ne": ""}',
    '") or true',
    "../acme/handbook",
    "..%2f..%2facme",
    "acme/handbook",
    "аcme",  # Cyrillic
    "handbook\x00",
    "HANDBOOK",
    "handbook ",
    "*",
    "%",
    "' OR '1'='1",
]


@dataclass
class Member:
    """A credential with a client."""

    client: httpx.AsyncClient
    key: str

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}"}
        return await self.client.request(method, path, headers=headers, **more)

    async def ok(self, method: str, path: str, **more: Any) -> Any:
        answer = await self.send(method, path, **more)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    async def ask(self, question: str = QUESTION, **more: Any) -> dict[str, Any]:
        body = {"question": question, "knowledge_base": KB} | more
        answer: dict[str, Any] = await self.ok("POST", "/v1/ask", json=body)
        return answer


@dataclass
class World:
    acme: Member
    ann: Member
    """Of acme, in the group hr."""
    bob: Member
    """Of acme, in no group; he may ask alone."""
    globex: Member


def text(canary: str) -> bytes:
    return f"# Refunds\n\nRefunds are paid in May, says {canary}.\n".encode()


@pytest.fixture
async def world(store_path: Path) -> AsyncIterator[World]:
    settings = settings_on(store_path)
    async with client_of(settings, RealService(keeping=True)) as client:
        made = await members(client, settings)
        for member, canary in ((made.acme, ACME), (made.globex, GLOBEX)):
            described = {"name": KB, "description": f"of {canary}"}
            await member.ok("POST", "/v1/knowledge-bases", json=described)
            await member.ok("POST", f"{BASES}/documents?name=refunds.md", content=text(canary))
            own = {"name": f"only-{canary}"}
            await member.ok("POST", "/v1/knowledge-bases", json=own)
        hr = f"{BASES}/documents?name={HR}.md&acl=group:hr"
        await made.acme.ok("POST", hr, content=text(HR))
        yield made


async def members(client: httpx.AsyncClient, settings: Settings) -> World:
    with closing(open_keys(settings)) as store:

        def member(tenant: str, *scopes: str, **more: Any) -> Member:
            key = new_key(tenant, scopes=scopes or KEY_SCOPES, **more)
            return Member(client, store_key(store, key))

        return World(
            acme=member("acme"),
            ann=member("acme", "ask", user="ann", groups=["hr"]),
            bob=member("acme", "ask", user="bob"),
            globex=member("globex"),
        )


WAYS: list[dict[str, Any]] = [
    {"fusion": "dense", "exact": True, "rerank": False},
    {"fusion": "bm25", "phrasings": 3},
    {"fusion": "rrf", "bridge": True, "mmr": 0.5},
    {"fusion": "blend", "collapse": True, "around": 600, "parent": 1_000, "query_filters": True},
]
"""Options by which each way to search, and to read on from what was found, is gone."""


def requests(ids: dict[str, str]) -> list[tuple[str, str, dict[str, Any]]]:
    """One of every route at least, with ids that may be another one's."""
    ask = {"question": QUESTION, "knowledge_base": KB}
    document = f"{BASES}/documents/{ids['document']}"
    described = {"description": "Mine."}
    return [
        ("POST", "/v1/search", {"json": ask | {"limit": 100}}),
        ("POST", "/v1/search", {"json": ask | {"question": f"{ACME} {GLOBEX} {HR}"}}),
        ("POST", "/v1/search", {"json": ask | {"filters": {"document_id": ids["document"]}}}),
        ("POST", "/v1/ask", {"json": ask}),
        *(("POST", "/v1/ask", {"json": ask | {"options": options}}) for options in WAYS),
        ("POST", "/v1/ask", {"json": ask | {"thread_id": "shared"}}),
        ("POST", "/v1/ask/stream", {"json": ask}),
        ("GET", "/v1/runs?limit=500", {}),
        ("GET", f"/v1/runs/{ids['run']}", {}),
        ("POST", f"/v1/runs/{ids['run']}/cancel", {}),
        ("GET", "/v1/knowledge-bases", {}),
        ("GET", f"{BASES}/documents", {}),
        ("GET", document, {}),
        ("PUT", f"{document}/acl", {"json": {"acl": ["*"]}}),
        ("DELETE", document, {}),
        ("POST", "/v1/knowledge-bases", {"json": {"name": "only-mine"}}),
        ("PUT", f"/v1/knowledge-bases/{ids['base']}/acl", {"json": {"acl": ["*"]}}),
        ("PUT", f"/v1/knowledge-bases/{ids['base']}/description", {"json": described}),
        ("GET", f"/v1/knowledge-bases/{ids['base']}/documents", {}),
        ("POST", f"/v1/knowledge-bases/{ids['base']}/documents?name=a.md", {"content": b"# A"}),
        ("DELETE", f"/v1/knowledge-bases/{ids['base']}", {}),
        ("DELETE", "/v1/threads/private", {}),
    ]


async def everything(member: Member, ids: dict[str, str]) -> dict[str, httpx.Response]:
    """Every route of the service as this member."""
    answers = {}
    for n, (method, path, more) in enumerate(requests(ids)):
        answers[f"{n} {method} {path}"] = await member.send(method, path, **more)
    return answers


def test_every_route_and_every_arm_of_a_search_is_asked(tmp_path: Path) -> None:
    """A new one fails here until it is."""
    paths = create_app(settings_on(tmp_path), open_service=FakeService()).openapi()["paths"]
    asked = requests(dict.fromkeys(("run", "document", "base"), "id"))
    for path, methods in paths.items():
        shape = re.compile(re.sub(r"{\w+}", "[^/]+", path) + r"(\?.*)?")
        met = {method.lower() for method, sent, _ in asked if shape.fullmatch(sent)}
        assert not path.startswith("/v1") or met >= methods.keys(), path
    assert {way["fusion"] for way in WAYS} == set(get_args(Fusion))


async def test_a_kept_answer_is_for_who_may_see_the_same(world: World) -> None:
    sees = {"acme": {ACME}, "ann": {ACME, HR}, "bob": {ACME}, "globex": {GLOBEX}}
    for kept in (False, True):
        for name, canaries in sees.items():
            told = await getattr(world, name).ask()
            hits = [one["summary"]["hit"] for one in told["trace"] if one["node"] == "check_cache"]
            assert hits == [kept], name
            shown = json.dumps(told)
            assert {one for one in (ACME, GLOBEX, HR) if one in shown} == canaries


async def private_ids(member: Member, source: str, base: str) -> dict[str, str]:
    """Of things that exist: a run with a thread, a document, a base."""
    run = await member.ask(f"{QUESTION} asks {ACME}", thread_id="private")
    documents = (await member.ok("GET", f"{BASES}/documents"))["documents"]
    (document,) = [d["document_id"] for d in documents if d["source"] == source]
    return {"run": run["run_id"], "document": document, "base": base}


async def test_another_tenant_sees_nothing_and_changes_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    ids = await private_ids(world.acme, "refunds.md", f"only-{ACME}")
    before = await snapshot(world.acme)
    caplog.set_level(logging.DEBUG, "crag")
    caplog.clear()
    answers = await everything(world.globex, ids)
    for route, answer in answers.items():
        shown = answer.text.replace(ids["base"], "").replace(ids["document"], "")
        # A question that names a canary comes back, in the asker's own words.
        shown = shown.replace(f"{ACME} {GLOBEX} {HR}", "")
        assert ACME not in shown and HR not in shown, (route, answer.text)
        assert answer.status_code < 500, route
    assert any(GLOBEX in answer.text for answer in answers.values())
    assert ACME not in caplog.text.replace(ids["base"], "")
    assert await snapshot(world.acme) == before


async def snapshot(member: Member) -> Any:
    bases = await member.ok("GET", "/v1/knowledge-bases")
    documents = await member.ok("GET", f"{BASES}/documents")
    runs = await member.ok("GET", "/v1/runs")
    return bases, documents, runs


async def test_forbidden_and_unknown_are_the_same(world: World) -> None:
    theirs = await private_ids(world.acme, "refunds.md", f"only-{ACME}")
    unknown = {"run": "0" * 32, "document": "1" * 32, "base": "only-nobody"}
    for member, at_least in ((world.globex, 9), (world.bob, 6)):
        forbidden = await everything(member, theirs)
        not_there = await everything(member, unknown)
        compared = 0
        for (route, one), other in zip(forbidden.items(), not_there.values(), strict=True):
            if any(theirs[kind] in route for kind in theirs) and member is world.globex:
                assert one.status_code == 404, route
            if one.status_code == 404:
                compared += 1
                bodies = [one.text, other.text]
                for kind in theirs:
                    bodies = [
                        b.replace(theirs[kind], "").replace(unknown[kind], "") for b in bodies
                    ]
                assert bodies[0] == bodies[1], route
                same = [{k: v for k, v in a.headers.items() if k in HEADERS} for a in (one, other)]
                assert same[0] == same[1], route
        assert compared >= at_least


HEADERS = ("content-type", "cache-control", "www-authenticate", "retry-after")


async def test_inside_a_tenant_the_access_list_rules_every_route(world: World) -> None:
    (hr,) = [
        d["document_id"]
        for d in (await world.acme.ok("GET", f"{BASES}/documents"))["documents"]
        if d["source"] == f"{HR}.md"
    ]
    answer = await world.ann.ask(thread_id="private")
    assert HR in answer["answer"]
    ids = {"run": answer["run_id"], "document": hr, "base": f"only-{ACME}"}
    for member in (world.bob, world.acme):
        for route, shown in (await everything(member, ids)).items():
            manages = member is world.acme and "knowledge-bases" in route
            asked = f"{ACME} {GLOBEX} {HR}"
            if not manages:
                assert HR not in shown.text.replace(asked, ""), (route, shown.text)


async def test_a_changed_list_holds_for_answers_runs_and_searches_at_once(world: World) -> None:
    (document,) = [
        d["document_id"]
        for d in (await world.acme.ok("GET", f"{BASES}/documents"))["documents"]
        if d["source"] == "refunds.md"
    ]
    run = await world.bob.ask()
    assert ACME in run["answer"]
    access = f"{BASES}/documents/{document}/acl"
    await world.acme.ok("PUT", access, json={"acl": ["group:hr"]})
    assert ACME not in (await world.bob.ask())["answer"]
    again = await world.bob.send("GET", f"/v1/runs/{run['run_id']}")
    assert again.status_code == 404
    assert ACME in (await world.ann.ask())["answer"]
    await world.acme.ok("PUT", access, json={"acl": ["*"]})
    assert ACME in (await world.bob.ask())["answer"]
    assert (await world.bob.ok("GET", f"/v1/runs/{run['run_id']}"))["answer"] == run["answer"]
    await world.acme.ok("PUT", f"{BASES}/acl", json={"acl": ["user:ann"]})
    body = {"question": QUESTION, "knowledge_base": KB}
    assert (await world.bob.send("POST", "/v1/ask", json=body)).status_code == 404
    assert (await world.bob.ok("GET", "/v1/knowledge-bases"))["knowledge_bases"][0]["name"] != KB


async def test_a_refusal_points_at_no_base_that_may_not_be_read(world: World) -> None:
    await world.acme.ok("PUT", f"{BASES}/acl", json={"acl": ["group:hr"]})
    empty = f"only-{ACME}"
    told = await world.ann.ask(knowledge_base=empty)
    assert told["outcome"] == "refused" and KB in json.dumps(told["suggestions"])
    assert KB not in json.dumps(await world.bob.ask(knowledge_base=empty))


async def test_threads_and_runs_of_one_user_are_not_those_of_another(world: World) -> None:
    told = await world.ann.ask(f"{QUESTION} asks {ACME}", thread_id="t")
    follow_up = await world.bob.ask("And when?", thread_id="t")
    assert ACME not in json.dumps(follow_up["trace"][0])
    runs = (await world.bob.ok("GET", "/v1/runs"))["runs"]
    assert told["run_id"] not in {run["run_id"] for run in runs}
    for member in (world.acme, world.globex):
        assert (await member.send("DELETE", "/v1/threads/t")).status_code == 404
    assert (await world.bob.send("DELETE", "/v1/threads/t")).status_code == 204
    assert (await world.ann.send("DELETE", "/v1/threads/t")).status_code == 204


async def test_a_hostile_name_finds_nothing_and_breaks_nothing(world: World) -> None:
    before = await snapshot(world.acme)
    for hostile in HOSTILE:
        await nothing_comes_of(hostile, world)
    assert await snapshot(world.acme) == before


async def nothing_comes_of(hostile: str, world: World) -> None:
    name = quote(hostile, safe="")
    body: dict[str, Any] = {"question": QUESTION, "knowledge_base": hostile}
    answers = [
        await world.globex.send("GET", f"/v1/knowledge-bases/{name}/documents"),
        await world.globex.send("DELETE", f"/v1/knowledge-bases/{name}"),
        await world.globex.send("GET", f"{BASES}/documents/{name}"),
        await world.globex.send("DELETE", f"{BASES}/documents/{name}"),
        await world.globex.send("PUT", f"{BASES}/documents/{name}/acl", json={"acl": ["*"]}),
        await world.globex.send("GET", f"/v1/runs/{name}"),
        await world.globex.send("POST", f"/v1/runs/{name}/cancel"),
        await world.globex.send("DELETE", f"/v1/threads/{name}"),
        await world.globex.send("POST", "/v1/search", json=body),
        await world.globex.send("POST", "/v1/ask", json=body),
        await world.globex.send("POST", "/v1/knowledge-bases", json={"name": hostile}),
        await world.globex.send("PUT", f"{BASES}/acl", json={"acl": [hostile, "hr"]}),
    ]
    assert {answer.status_code for answer in answers} <= {404, 405, 422}
    filtered = {"question": QUESTION, "knowledge_base": KB, "filters": {"version": hostile}}
    found = await world.globex.ok("POST", "/v1/search", json=filtered)
    assert found["results"] == []
    for inside in ({"tenant": hostile}, {"acl": hostile}, {"version": {"$ne": hostile}}):
        refused = await world.globex.send("POST", "/v1/search", json=filtered | {"filters": inside})
        assert refused.status_code == 422
    for more in ({"tenant": "acme"}, {"scope": hostile}, {"options": {"tenant": "acme"}}):
        body = {"question": QUESTION, "knowledge_base": KB} | more
        assert (await world.globex.send("POST", "/v1/ask", json=body)).status_code == 422
    assert ACME not in "".join(answer.text for answer in answers)


async def test_no_header_changes_the_scope(world: World) -> None:
    named = ("X-Tenant", "X-Tenant-Id", "X-Forwarded-User", "X-User", "X-Groups", "X-Scope")
    headers = dict.fromkeys(named, "acme") | {"Authorization": f"Bearer {world.globex.key}"}
    body = {"question": QUESTION, "knowledge_base": KB}
    answer = await world.globex.client.post("/v1/search", json=body, headers=headers)
    assert GLOBEX in answer.text and ACME not in answer.text


async def test_a_run_that_goes_on_is_seen_and_cancelled_by_its_own_alone(tmp_path: Path) -> None:
    service, settings = FakeService(), settings_on(tmp_path)
    async with AsyncExitStack() as opened:
        client = await opened.enter_async_context(client_of(settings, service))
        world = await members(client, settings)
        asking = asyncio.create_task(world.ann.ask("slow"))
        await service.runner.waiting.wait()
        for member in (world.globex, world.bob, world.acme):
            assert (await member.ok("GET", "/v1/runs"))["running"] == []
            assert (await member.send("POST", "/v1/runs/run-1/cancel")).status_code == 404
        (mine,) = (await world.ann.ok("GET", "/v1/runs"))["running"]
        assert (await world.ann.ok("POST", f"/v1/runs/{mine['run_id']}/cancel"))["state"]
        asking.cancel()
        await asyncio.wait([asking])
