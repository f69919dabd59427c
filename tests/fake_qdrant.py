"""Qdrant's HTTP interface over the client's own local mode, with faults: for the contract suite.

It is strict as a server is: a filter on a key without an index is refused. The true engine's
answers come from Qdrant Edge and from the server that CRAG_TEST_QDRANT_URL names.
"""

import asyncio
import json
import re
from typing import Any

import httpx
from pydantic import TypeAdapter
from qdrant_client import AsyncQdrantClient, models

UPDATES = TypeAdapter(models.UpdateOperations)


class FakeQdrant:
    """Answers requests; `faults` are taken first: a status, or seconds to hang."""

    def __init__(self) -> None:
        self.local = AsyncQdrantClient(":memory:")
        self.indexes: dict[str, dict[str, Any]] = {}
        self.created: dict[str, dict[str, Any]] = {}
        self.faults: list[int | float | httpx.HTTPError] = []
        self.retry_after: str | None = None
        self.requests: list[tuple[str, str]] = []

    def client(self, **more: Any) -> AsyncQdrantClient:
        transport = httpx.MockTransport(self._answer)
        return AsyncQdrantClient(
            url="http://qdrant.test:6333", transport=transport, check_compatibility=False, **more
        )

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.requests.append((request.method, path))
        if self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, httpx.HTTPError):
                raise fault
            if isinstance(fault, int):
                headers = {"Retry-After": self.retry_after} if self.retry_after else {}
                return httpx.Response(fault, json=_status("a fault"), headers=headers)
            await asyncio.sleep(fault)
        body = json.loads(request.content or b"{}")
        try:
            return httpx.Response(200, json=_result(await self._done(request.method, path, body)))
        except ValueError as error:
            text = str(error)
            missing = "not found" in text and "ollection" in text
            status = 404 if missing else 409 if "already exists" in text else 400
            found = f"Not found: {text} doesn't exist!" if missing else f"Wrong input: {text}"
            return httpx.Response(status, json=_status(found))

    async def _done(self, method: str, path: str, body: dict[str, Any]) -> Any:
        if (method, path) == ("GET", "/collections"):
            return await self.local.get_collections()
        if path == "/collections/aliases":
            return await self.local.update_collection_aliases(
                models.ChangeAliasesOperation(**body).actions
            )
        match = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        assert match, path
        name, rest = match[1], match[2] or ""
        match method, rest:
            case "GET", "":
                return await self.local.get_collection(name)
            case "PUT", "":
                self.created[name] = body
                asked = models.CreateCollection(**body)
                return await self.local.create_collection(
                    name, asked.vectors, asked.sparse_vectors, metadata=asked.metadata
                )
            case "DELETE", "":
                self.indexes.pop(name, None)
                return await self.local.delete_collection(name)
            case "PUT", "/index":
                self.indexes.setdefault(name, {})[body["field_name"]] = body["field_schema"]
                return _UPDATED
        return await self._points(name, rest, body)

    async def _points(self, name: str, rest: str, body: dict[str, Any]) -> Any:
        await self.local.get_collection(name)
        await self._is_indexed(name, body)
        match rest:
            case "/points":
                points = models.PointsList(**body).points
                return await self.local.upsert(name, points)
            case "/points/batch":
                asked = UPDATES.validate_python(body)
                return await self.local.batch_update_points(name, asked.operations)
            case "/points/query/batch":
                searches = models.QueryRequestBatch(**body).searches
                return await self.local.query_batch_points(name, searches)
            case "/points/payload":
                change = models.SetPayload(**body)
                return await self.local.set_payload(name, change.payload, points=change.filter)
            case "/points/count":
                return await self.local.count(name, exact=True)
            case "/points/scroll":
                asked = models.ScrollRequest(**body)
                points, page = await self.local.scroll(
                    name,
                    scroll_filter=asked.filter,
                    limit=asked.limit or 10,
                    offset=asked.offset,
                    with_payload=asked.with_payload or False,
                    with_vectors=asked.with_vector or False,
                )
                return {"points": points, "next_page_offset": page}
        raise AssertionError(f"the store should not ask for {rest}")

    async def _is_indexed(self, name: str, body: dict[str, Any]) -> None:
        aliases = (await self.local.get_aliases()).aliases
        real = {one.alias_name: one.collection_name for one in aliases}.get(name, name)
        for key in re.findall(r'"key": "([^"]+)"', json.dumps(body)):
            if key not in self.indexes.get(real, {}):
                raise ValueError(f"Index required but not found for {key!r}")


_UPDATED = {"operation_id": 1, "status": "completed"}


def _result(value: Any) -> dict[str, Any]:
    plain = TypeAdapter(Any).dump_python(value, mode="json", exclude_none=True)
    return {"result": plain, "status": "ok", "time": 0.0}


def _status(error: str) -> dict[str, Any]:
    return {"status": {"error": error}, "time": 0.0}
