"""Knowledge bases and their documents over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.api_clients import client_of, settings_on
from tests.api_fakes import FakeService

BASES = "/v1/knowledge-bases"
DOCUMENTS = f"{BASES}/handbook/documents"
LEAVE = b"# Leave\n\nEveryone has thirty days of leave.\n"


@pytest_asyncio.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    settings = settings_on(tmp_path, max_upload_mb=1)
    async with client_of(settings, FakeService()) as opened:
        await opened.post(BASES, json={"name": "handbook", "description": "The handbook"})
        yield opened


async def test_a_base_is_made_listed_and_deleted(client: httpx.AsyncClient) -> None:
    made = await client.post(BASES, json={"name": "wiki", "web": True})
    listed = (await client.get(BASES)).json()["knowledge_bases"]
    deleted = await client.delete(f"{BASES}/wiki")
    again = await client.delete(f"{BASES}/wiki")
    assert (made.status_code, made.json()["web"], made.json()["documents"]) == (201, True, 0)
    assert [base["name"] for base in listed] == ["handbook", "wiki"]
    assert (deleted.status_code, again.status_code) == (204, 404)
    assert again.json()["code"] == "unknown_knowledge_base"


@pytest.mark.parametrize("name", ["handbook", "Not Good", "", "../x"])
async def test_refuses_bad_and_taken_names(client: httpx.AsyncClient, name: str) -> None:
    response = await client.post(BASES, json={"name": name})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


async def test_uploads_several_files_at_once(client: httpx.AsyncClient) -> None:
    files = [
        ("files", ("hr/leave.md", LEAVE)),
        ("files", ("copy.md", LEAVE)),
        ("files", ("über.md", "# Über\n\nUns.".encode())),
        ("files", ("empty.md", b"")),
        ("files", ("photo.png", b"\x89PNG")),
    ]
    report = (await client.post(DOCUMENTS, files=files)).json()["files"]
    states = {result["source"]: result["state"] for result in report}
    assert states == {
        "hr/leave.md": "added",
        "copy.md": "added",
        "über.md": "added",
        "empty.md": "failed",
        "photo.png": "failed",
    }
    assert report[1]["duplicate_of"] == report[0]["document_id"]
    assert [result["code"] for result in report[3:]] == ["empty", "unsupported"]


async def test_the_same_name_is_unchanged_then_updated(client: httpx.AsyncClient) -> None:
    states = []
    for content in (LEAVE, LEAVE, LEAVE + b"\nNew.\n"):
        response = await client.post(f"{DOCUMENTS}?name=leave.md", content=content)
        states.append(response.json()["files"][0]["state"])
    assert states == ["added", "unchanged", "updated"]


async def test_a_document_is_listed_read_and_deleted(client: httpx.AsyncClient) -> None:
    await client.post(f"{DOCUMENTS}?name=leave.md", content=LEAVE)
    (listed,) = (await client.get(DOCUMENTS)).json()["documents"]
    address = f"{DOCUMENTS}/{listed['document_id']}"
    read = (await client.get(address)).json()
    deleted = await client.delete(address)
    gone = await client.get(address)
    assert read["document"] == listed
    assert read["text_length"] > 30
    assert (deleted.status_code, gone.status_code) == (204, 404)
    assert (await client.delete(address)).status_code == 404


async def test_unknown_bases_are_404_everywhere(client: httpx.AsyncClient) -> None:
    path = f"{BASES}/nope/documents"
    answers = [
        await client.post(f"{path}?name=a.md", content=LEAVE),
        await client.get(path),
        await client.get(f"{path}/x"),
        await client.delete(f"{path}/x"),
    ]
    assert {answer.json()["code"] for answer in answers} == {"unknown_knowledge_base"}


@pytest.mark.parametrize("name", ["", "/", "../etc/passwd", "a/../../b.md", "a\x00.md", "x" * 501])
async def test_refuses_names_that_lead_elsewhere(client: httpx.AsyncClient, name: str) -> None:
    response = await client.post(DOCUMENTS, params={"name": name}, content=LEAVE)
    assert response.status_code == 422


async def test_an_upload_needs_a_file_or_a_name(client: httpx.AsyncClient) -> None:
    nameless = await client.post(DOCUMENTS, content=LEAVE)
    fileless = await client.post(DOCUMENTS, files={"note": (None, "text")})
    assert (nameless.status_code, fileless.status_code) == (422, 422)


async def test_a_body_over_the_limit_is_too_large(client: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 65536

    announced = await client.post(f"{DOCUMENTS}?name=a.md", content=b"x" * 2_000_000)
    chunked = await client.post(f"{DOCUMENTS}?name=a.md", content=endless())
    multipart = await client.post(DOCUMENTS, files={"files": ("a.md", b"x" * 2_000_000)})
    as_json = await client.post(BASES, json={"name": "x", "description": "x" * 2_000_000})
    for response in (announced, chunked, multipart, as_json):
        assert (response.status_code, response.json()["code"]) == (413, "too_large")


async def test_runs_are_listed_and_read(client: httpx.AsyncClient) -> None:
    body = {"question": "why?", "knowledge_base": "handbook"}
    answer = (await client.post("/v1/ask", json=body)).json()
    listed = (await client.get("/v1/runs")).json()
    read = (await client.get(f"/v1/runs/{answer['run_id']}")).json()
    cancelled = (await client.post(f"/v1/runs/{answer['run_id']}/cancel")).json()
    assert [run["run_id"] for run in listed["runs"]] == [answer["run_id"]]
    assert (listed["running"], read) == ([], answer)
    assert cancelled["state"] == "finished"


async def test_unknown_runs_and_threads_are_404(client: httpx.AsyncClient) -> None:
    answers = [
        await client.get("/v1/runs/none"),
        await client.post("/v1/runs/none/cancel"),
        await client.delete("/v1/threads/none"),
    ]
    assert {(a.status_code, a.json()["code"]) for a in answers} == {(404, "not_found")}


async def test_a_thread_is_forgotten(client: httpx.AsyncClient) -> None:
    assert (await client.delete("/v1/threads/known")).status_code == 204
    assert (await client.delete("/v1/threads/known")).status_code == 404
