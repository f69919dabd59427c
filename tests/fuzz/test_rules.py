"""Each rule bites: a response that breaks it is found, and a good one is not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from api.app import create_app
from api.errors import problem
from tests.api_clients import settings_on
from tests.api_fakes import FakeService
from tests.fuzz.request import Request, Response
from tests.fuzz.rules import faults
from tests.fuzz.world import ACME, HR, World

APP: FastAPI = create_app(settings_on(Path("unused")), open_service=FakeService())
WORLD = World(
    APP, {}, {("acme", f"{HR}.md"): "d" * 32}, openapi=APP.openapi(), folder=Path("/data")
)
WORLD.documents |= {(tenant, "refunds.md"): tenant * 4 for tenant in ("acme", "globex")}
ENDPOINTS = {path: endpoint for endpoint, path in WORLD.routes.items()}


def told(who: str, method: str, path: str, response: Response) -> list[str]:
    response.endpoint = ENDPOINTS[path]
    return faults(Request(who, method, path.encode()), response, WORLD)


def a_response(status: int, body: Any, kind: str = "application/json", **changed: str) -> Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": kind, "x-request-id": "r-1", "content-length": str(len(raw))}
    named |= {name.replace("_", "-"): value for name, value in changed.items()}
    found = [(name.encode(), value.encode()) for name, value in named.items()]
    return Response(status, found, raw, ended=True)


def a_problem(code: str, detail: str = "no", **more: Any) -> Response:
    body = problem(code, detail) | more
    return a_response(body["status"], body, "application/problem+json")


BASES = {"knowledge_bases": []}


def test_good_responses_have_no_fault() -> None:
    assert not told("acme", "GET", "/v1/knowledge-bases", a_response(200, BASES))
    assert not told("bob", "GET", "/v1/runs/{run_id}", a_problem("not_found"))


@pytest.mark.parametrize(
    ("response", "fault"),
    [
        (a_problem("internal"), "status 500"),
        (replace(a_response(200, BASES), failed="KeyError()"), "an exception left"),
        (replace(a_response(200, BASES), ended=False), "no whole response"),
        (replace(a_response(200, BASES), cpu_s=11.0), "took 11.0 s"),
        (a_response(202, BASES), "status 202 is not described"),
        (a_response(200, BASES, "text/html"), "content type 'text/html' is not described"),
        (a_response(200, {"bases": []}), "the body is not as described"),
        (a_response(404, {"detail": "Not Found"}), "an error as application/json"),
        (a_problem("not_found", trace="here"), "a problem with other fields"),
        (a_problem("not_found", status=403), "a problem of another status"),
        (a_problem("not_found", ""), "a problem that says nothing"),
        (a_response(200, b'{"knowledge_bases": [NaN]}'), "no strict JSON"),
        (a_response(200, b'{"knowledge_bases": "\xff"}'), "no strict JSON"),
        (a_response(200, BASES, x_request_id="a b"), "no sane X-Request-ID"),
        (a_response(200, BASES, x_found="a\r\nb"), "a header that is none"),
        (a_response(200, BASES, content_length="3"), "Content-Length 3 of"),
        (a_response(200, BASES, server="uvicorn"), "a header server"),
        (a_problem("unauthorized"), "401 without www-authenticate"),
        (a_problem("not_found", "Traceback (most recent call last)"), "shows 'Traceback"),
        (a_problem("not_found", "no file in /data/keys"), "shows '/data'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_response_is_found(response: Response, fault: str) -> None:
    found = told("acme", "GET", "/v1/knowledge-bases", response)
    assert any(one.startswith(fault) or fault in one for one in found), found


@pytest.mark.parametrize(
    ("who", "canary"), [("globex", ACME), ("bob", HR), ("none", ACME), ("tight", HR)]
)
def test_a_canary_of_another_one_is_found(who: str, canary: str) -> None:
    found = told(who, "GET", "/v1/runs/{run_id}", a_problem("not_found", f"not {canary}"))
    assert any(f"{who} sees {canary}" in one for one in found), found


def test_a_success_that_a_credential_does_not_give_is_found() -> None:
    gone = Response(204, [(b"x-request-id", b"r")], ended=True)
    found = told("bob", "DELETE", "/v1/knowledge-bases/{knowledge_base}", gone)
    assert found == ["bob may ask alone and gets 204"]
    found = told("expired", "GET", "/v1/knowledge-bases", a_response(200, BASES))
    assert found == ["expired gets 200"]


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        ("event: answer\ndata: {}\nid: 2\n\nevent: done\ndata: {}\nid: 3\n\n", "out of order"),
        ("event: answer\ndata: {}\nid: 1\n\n", "ends without an answer"),
        ("event: other\ndata: {}\nid: 1\n\n", "unknown events"),
        ('event: error\ndata: {"code": "internal"}\nid: 1\n\n', "an error in the stream"),
    ],
)
def test_a_bad_stream_is_found(events: str, fault: str) -> None:
    response = a_response(200, events.encode(), "text/event-stream")
    assert any(fault in one for one in told("acme", "POST", "/v1/ask/stream", response))
