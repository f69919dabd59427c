"""The service under attack: two tenants with the same documents and different canaries."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from api.app import create_app
from api.keys import KEY_SCOPES, new_key, revoke, store_key
from api.settings import ApiSettings, Settings
from api.stored_keys import open_keys
from graph.compose import Service
from ingest.adapters.memory import MemoryStore
from ingest.scope import Scope
from tests.api_fakes import an_answer
from tests.fuzz.request import Request, Response, send
from tests.real_service import RealService

KB = "handbook"
DOCUMENTS = f"/v1/knowledge-bases/{KB}/documents"
QUESTION = "When are refunds paid?"
ACME, GLOBEX, HR = "zebrafink", "pelikan", "kolibri"
"""Canaries: words of one tenant, and of the group hr of acme."""

NOBODY = ("none", "expired", "revoked", "made up")
CANARIES = {"acme": (GLOBEX,), "ann": (GLOBEX,), "bob": (GLOBEX, HR), "globex": (ACME, HR)}
"""What a member may not see."""
ALL = (ACME, GLOBEX, HR)
BASELINE = {"acme": [f"{HR}.md", "refunds.md"], "globex": ["refunds.md"]}
RUNS = {"acme": "3f0c6b1e9a7d4825b6e01c9f7a2d4e58", "globex": "9d2e41a07c5b4f3886b1d0e7c3a9f215"}


@dataclass
class World:
    """An application with its members' credentials. `documents` are ids by tenant and source."""

    app: FastAPI
    credentials: dict[str, str | None]
    documents: dict[tuple[str, str], str] = field(default_factory=dict)
    openapi: dict[str, Any] = field(default_factory=dict)
    folder: Path = Path()

    @cached_property
    def components(self) -> str:
        """The schemas that the description's routes refer to, as JSON."""
        return json.dumps(self.openapi["components"])

    @cached_property
    def routes(self) -> dict[Any, str]:
        """The whole path of each endpoint."""
        routes = iter_route_contexts(self.app.routes)
        return {route.endpoint: str(route.path) for route in routes if hasattr(route, "endpoint")}

    def route(self, response: Response) -> str:
        """The path of the route that was found; empty where none was."""
        return self.routes.get(response.endpoint, "")

    async def send(self, request: Request) -> Response:
        return await send(self.app, request, self.credentials[request.who])

    async def call(self, who: str, method: str, path: str, body: Any = None) -> Any:
        """What a well-meant request gives; JSON, or bytes as they are."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = ((b"content-type", b"application/json"),)
        request = Request(who, method, path.encode(), headers, (raw,) if body is not None else ())
        response = await self.send(request)
        assert 200 <= response.status < 300, (who, method, path, response)
        return json.loads(response.body) if response.body else None

    def foreign(self, who: str) -> dict[bytes, bytes]:
        """Ids of things that are there and that a member may not know of; each with one of its
        kind that is not there."""
        hr = {self.documents["acme", f"{HR}.md"]: "e60a9c3b7f18452d8d47b5c1902fa3e6"}
        if who == "bob":
            return _bytes(hr)
        if who not in ("acme", "ann", "globex"):
            return {}
        tenant, canary = ("acme", ACME) if who == "globex" else ("globex", GLOBEX)
        names = {
            self.documents[tenant, "refunds.md"]: "b84f02d7e1364c9a95d3a6708ef1c25e",
            RUNS[tenant]: "7c15e0b94d2f4a63a8e9f10b2c6d3487",
            f"only-{canary}": "only-" + "x" * len(canary),
            f"thread-{canary}": "thread-" + "x" * len(canary),
        }
        return _bytes(names | (hr if who == "globex" else {}))

    async def as_before(self, tenant: str) -> bool:
        """Whether the tenant has what it had, and no more."""
        bases = await self.call(tenant, "GET", "/v1/knowledge-bases")
        documents = await self.call(tenant, "GET", DOCUMENTS)
        names = sorted(base["name"] for base in bases["knowledge_bases"])
        found = {one["source"]: (one["document_id"], one["acl"]) for one in documents["documents"]}
        lists = {"refunds.md": ["*"], f"{HR}.md": ["group:hr"]}
        expected = {s: (self.documents[tenant, s], lists[s]) for s in BASELINE[tenant]}
        return names == sorted([KB, f"only-{_canary(tenant)}"]) and found == expected

    async def forget_threads(self, request: Request) -> None:
        """Threads of its own that it named as another one's are called."""
        for names in self.foreign(request.who).items():
            for name in names:
                if name.startswith(b"thread-") and request.holds(name):
                    await self.send(Request(request.who, "DELETE", b"/v1/threads/" + name))

    async def restore(self, tenant: str) -> None:
        """What the tenant has is again what it had in the beginning."""
        bases = await self.call(tenant, "GET", "/v1/knowledge-bases")
        names = {base["name"] for base in bases["knowledge_bases"]}
        canary = _canary(tenant)
        mine = (KB, f"only-{canary}")
        for name in names - set(mine):
            await self.call(tenant, "DELETE", f"/v1/knowledge-bases/{name}")
        for name in mine:
            path = "/v1/knowledge-bases"
            if name not in names:
                described = {"name": name, "description": f"of {canary}"}
                await self.call(tenant, "POST", path, described)
            await self.call(tenant, "PUT", f"{path}/{name}/acl", {"acl": ["*"]})
        await self._restore_documents(tenant, canary)

    async def _restore_documents(self, tenant: str, canary: str) -> None:
        found = (await self.call(tenant, "GET", DOCUMENTS))["documents"]
        for document in found:
            if document["source"] not in BASELINE[tenant]:
                await self.call(tenant, "DELETE", f"{DOCUMENTS}/{document['document_id']}")
        await self.upload(tenant, "refunds.md", canary, "*")
        if tenant == "acme":
            await self.upload(tenant, f"{HR}.md", HR, "group:hr")

    async def upload(self, tenant: str, source: str, canary: str, acl: str) -> None:
        text = f"# Refunds\n\nRefunds are paid in May, says {canary}.\n".encode()
        path = f"{DOCUMENTS}?name={source}&acl={acl}"
        (result,) = (await self.call(tenant, "POST", path, text))["files"]
        self.documents[tenant, source] = result["document_id"]


@asynccontextmanager
async def world_on(folder: Path) -> AsyncIterator[World]:
    """Open, with its tenants' documents, runs and threads; limits are low, so that they are met."""
    settings = Settings(data_dir=folder / "crag", api=ApiSettings(max_upload_mb=1))
    loaded, opened = asyncio.Event(), list[Service]()

    async def ready(service: Service) -> None:
        opened.append(service)
        loaded.set()

    credentials = made_keys(settings)
    app = create_app(settings, open_service=RealService(MemoryStore()), ready=ready)
    async with app.router.lifespan_context(app):
        await loaded.wait()
        world = World(app, credentials, openapi=app.openapi(), folder=folder)
        for tenant, canary in (("acme", ACME), ("globex", GLOBEX)):
            await world.restore(tenant)
            answer = replace(an_answer(RUNS[tenant], f"asks {canary}"), answer=f"says {canary}")
            await opened[0].runs.add(Scope(tenant), KB, answer)
            asked = {"question": QUESTION, "knowledge_base": KB}
            await world.call(tenant, "POST", "/v1/ask", asked | {"thread_id": f"thread-{canary}"})
        yield world


def made_keys(settings: Settings) -> dict[str, str | None]:
    """By member. `tight` is of acme and has used up what it may take in a minute."""
    with closing(open_keys(settings)) as store:

        def told(tenant: str, *scopes: str, **more: Any) -> str:
            return store_key(store, new_key(tenant, scopes=scopes or KEY_SCOPES, **more))

        past = new_key("acme", scopes=KEY_SCOPES, lifetime=timedelta(seconds=-1))
        gone = new_key("acme", scopes=KEY_SCOPES)
        made: dict[str, str | None] = {
            "acme": told("acme"),
            "ann": told("acme", "ask", user="ann", groups=["hr"]),
            "bob": told("acme", "ask", user="bob"),
            "globex": told("globex"),
            "tight": told("nobody", limits={"requests_per_minute": 1, "question_chars": 5}),
            "expired": store_key(store, past),
            "revoked": store_key(store, gone),
            "made up": f"crag_{'0' * 12}_{'A' * 43}",
            "none": None,
        }
        revoke(store, gone.key_id)
    return made


def _canary(tenant: str) -> str:
    return ACME if tenant == "acme" else GLOBEX


def _bytes(names: dict[str, str]) -> dict[bytes, bytes]:
    return {old.encode(): new.encode() for old, new in names.items()}
