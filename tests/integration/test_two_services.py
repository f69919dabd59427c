"""Two services over HTTP on one database: keys, documents, runs and the audit trail are of both."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from api.audit import open_audit
from api.keys import new_key, revoke, store_key
from api.settings import Settings
from api.stored_keys import open_keys
from tests.api_clients import client_of
from tests.fakes import HashingEmbedder
from tests.places import Place
from tests.postgres import Postgres
from tests.real_service import RealService

DOCUMENTS = "/v1/knowledge-bases/handbook/documents"
ASK = {"question": "When are refunds paid?", "knowledge_base": "handbook"}
TEXT = b"Refunds are paid within five days."


@pytest.fixture
def settings(postgres_server: Postgres, store_path: Path) -> list[Settings]:
    place = Place(postgres_server.new_database(), store_path)
    return [Settings(data_dir=store_path / name, database=place.database) for name in ("a", "b")]


@pytest.fixture
async def two(
    settings: list[Settings], store_path: Path
) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    place = Place("", store_path)
    async with AsyncExitStack() as opened:
        here, there = [
            await opened.enter_async_context(
                client_of(one, RealService(place.store(HashingEmbedder())))
            )
            for one in settings
        ]
        yield here, there


def a_key(settings: Settings) -> tuple[str, dict[str, str]]:
    store = open_keys(settings)
    key = new_key("acme", user="ann", scopes=["ask", "ingest", "admin"])
    told = store_key(store, key)
    store.close()
    return key.key_id, {"Authorization": f"Bearer {told}"}


async def test_what_is_done_at_one_is_so_at_the_other(
    settings: list[Settings], two: tuple[httpx.AsyncClient, httpx.AsyncClient]
) -> None:
    here, there = two
    key_id, ann = a_key(settings[0])
    for client in two:
        assert (await client.post("/v1/ask", json=ASK)).status_code == 401
    made = await here.post("/v1/knowledge-bases", json={"name": "handbook"}, headers=ann)
    assert made.status_code == 201
    up = await here.post(f"{DOCUMENTS}?name=refunds.txt", content=TEXT, headers=ann)
    (document,) = [file["document_id"] for file in up.json()["files"]]
    again = await there.post(f"{DOCUMENTS}?name=refunds.txt", content=TEXT, headers=ann)
    assert [file["state"] for file in again.json()["files"]] == ["unchanged"]

    answer = (await there.post("/v1/ask", json=ASK, headers=ann)).json()
    assert answer["outcome"] == "answered"
    assert [c["document_id"] for c in answer["citations"]] == [document]
    run = f"/v1/runs/{answer['run_id']}"
    assert (await here.get(run, headers=ann)).json() == (await there.get(run, headers=ann)).json()
    _, bob = a_key(settings[1])
    assert (await here.get(run, headers=bob)).status_code == 200  # ann, too, by her other key

    await here.put(f"{DOCUMENTS}/{document}/acl", json={"acl": ["group:hr"]}, headers=ann)
    narrowed = (await there.post("/v1/ask", json=ASK, headers=ann)).json()
    assert narrowed["outcome"] == "refused"
    assert (await there.get(run, headers=ann)).status_code == 404
    assert (await there.delete(f"{DOCUMENTS}/{document}", headers=ann)).status_code == 204
    listed = await here.get(DOCUMENTS, headers=ann)
    assert listed.json() == {"documents": []}

    store = open_keys(settings[1])
    revoke(store, key_id)
    store.close()
    for client in two:
        assert (await client.post("/v1/ask", json=ASK, headers=ann)).status_code == 401
        assert (await client.get(DOCUMENTS, headers=bob)).status_code == 200


async def test_the_audit_trail_has_the_rows_of_both(
    settings: list[Settings], two: tuple[httpx.AsyncClient, httpx.AsyncClient]
) -> None:
    here, there = two
    _, ann = a_key(settings[0])
    await here.post("/v1/knowledge-bases", json={"name": "handbook"}, headers=ann)
    await there.post("/v1/ask", json=ASK, headers=ann)
    for one in settings:
        log = open_audit(one)
        assert [row.action for row in log.recent(tenant="acme")] == ["ask", "create_knowledge_base"]
        log.close()
    assert not list(settings[0].data_dir.glob("*.sqlite"))
