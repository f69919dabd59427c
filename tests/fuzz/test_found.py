"""What hostile requests found: each kind of fault as a plain request that once showed it."""

import logging
from pathlib import Path

import pytest

from api.app import create_app
from api.request_id import WithRequestId
from tests.api_clients import client_of, settings_on
from tests.api_fakes import FakeService
from tests.fuzz.request import Request, send

ASK = {"question": "q", "knowledge_base": "handbook"}


@pytest.mark.parametrize("length", [b"\xb2", b"9" * 5_000, b"1.5", b"-1", b""])
async def test_a_length_that_is_no_number_is_no_failure(tmp_path: Path, length: bytes) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        response = await client.get("/livez", headers={"content-length": length})
    assert response.status_code == 200


async def test_a_failure_is_named_by_the_id_of_its_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told = []

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(getattr(record, "request_id", None))

    handler = Told(logging.ERROR)
    handler.addFilter(WithRequestId())
    log = logging.getLogger("crag.api")
    log.addHandler(handler)
    try:
        async with client_of(settings_on(tmp_path), FakeService()) as client:
            asked = ASK | {"question": "crash"}
            response = await client.post("/v1/ask", json=asked, headers={"X-Request-ID": "r-1"})
    finally:
        log.removeHandler(handler)
    assert (response.status_code, response.headers["x-request-id"]) == (500, "r-1")
    assert told == ["r-1"]


@pytest.mark.parametrize(
    "body", [{"x" * 200_000: 1}, {f"unknown{n}": 1 for n in range(90)}], ids=["long", "many"]
)
async def test_a_problem_is_short_whatever_was_sent(tmp_path: Path, body: dict[str, int]) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        response = await client.post("/v1/search", json=body | ASK)
    assert response.status_code == 422
    assert 0 < len(response.json()["errors"]) <= 20
    assert len(response.content) < 20_000


@pytest.mark.parametrize("inside", [False, True], ids=["body", "turn"])
async def test_a_body_of_very_many_fields_is_one_error(tmp_path: Path, inside: bool) -> None:
    """Each would get an error of its own, a second of work for a megabyte."""
    many = {f"unknown{n}": 1 for n in range(5_000)}
    body = ASK | {"history": [many]} if inside else ASK | many
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        response = await client.post("/v1/ask", json=body)
    assert response.status_code == 422
    assert [error["message"] for error in response.json()["errors"]] == ["has at most 100 fields"]


@pytest.mark.parametrize("kind", ["application/octet-stream", "multipart/form-data; boundary=x"])
async def test_a_client_that_leaves_while_it_uploads_is_no_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    async with client_of(settings_on(tmp_path), FakeService()) as client:
        await client.post("/v1/knowledge-bases", json={"name": "kb"})
        path = b"/v1/knowledge-bases/kb/documents?name=a.md"
        headers = ((b"content-type", kind.encode()),)
        leaving = Request("none", "POST", path, headers, (b"--x\r\n",), leaves=True)
        response = await send(client._transport.app, leaving, None)  # type: ignore[attr-defined]
    assert (response.status, response.failed) == (499, "")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_the_description_has_what_any_route_may_answer(tmp_path: Path) -> None:
    paths = create_app(settings_on(tmp_path), open_service=FakeService()).openapi()["paths"]
    every = {"401", "404", "413", "422", "429", "503"}
    for path, methods in paths.items():
        for method, told in methods.items():
            expected = every if path.startswith("/v1/") else {"413"}
            assert expected <= set(told["responses"]), (method, path)
