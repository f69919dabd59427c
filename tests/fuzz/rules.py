"""What holds of every response, whatever was asked: each rule gives the faults that it finds."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from api.errors import STATUS
from api.problems import Problem
from api.request_id import SANE
from tests.fuzz.request import Request, Response
from tests.fuzz.world import ALL, CANARIES, NOBODY, World

Rule = Callable[[Request, Response, World], Iterator[str]]

SLOW_S = 10.0
"""Of the processor, which no hostile request may take."""
INSIDE = [
    "Traceback (most recent", 'File "', ".py", "site-packages", "sqlite3", "pydantic",
    "object at 0x",
    "asyncio", "starlette", "langgraph", "ValueError", "TypeError", "RecursionError", "/dev/shm",
    sys.prefix, str(Path(__file__).parents[2]), str(Path.home()) + "/",
]  # fmt: skip
EVENTS = {"run", "node", "answer.delta", "answer", "error", "done"}
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")


def faults(request: Request, response: Response, world: World) -> list[str]:
    return [fault for rule in RULES for fault in rule(request, response, world)]


def answers(request: Request, response: Response, world: World) -> Iterator[str]:
    if response.failed:
        yield f"an exception left the application: {response.failed}"
    if response.status >= 500:
        yield f"status {response.status}"
    if not request.leaves and not response.ended:
        yield "no whole response"
    if response.cpu_s > SLOW_S:
        yield f"took {response.cpu_s:.1f} s of the processor"


def is_described(request: Request, response: Response, world: World) -> Iterator[str]:
    """The status stands in the description of the route, and the body is of its form."""
    methods = world.openapi["paths"].get(world.route(response), {})
    if not response.ended or not methods or _for_nobody(request, response):
        return
    methods = {method.upper(): told for method, told in methods.items()}
    if (route := methods.get(request.method)) is None:
        if response.status != 405:
            yield f"{request.method} is not described and gives {response.status}"
        return
    told = route["responses"].get(str(response.status))
    if told is None:
        yield f"status {response.status} is not described"
        return
    kind = (response.header("content-type") or "").partition(";")[0]
    content = told.get("content", {})
    if content and kind not in content:
        yield f"content type {kind!r} is not described"
    schema = content.get(kind, {}).get("schema")
    if schema and kind.endswith("json") and (body := _json(response)) is not None:
        wrong = next(_validator(json.dumps(schema), world.components).iter_errors(body), None)
        if wrong is not None:
            yield f"the body is not as described: {list(wrong.path)} {wrong.message[:200]}"


def is_problem(request: Request, response: Response, world: World) -> Iterator[str]:
    """Each error is a problem with the documented fields, of the status that it says."""
    if response.status < 400 or request.method == "HEAD" or not response.ended:
        return
    if _for_nobody(request, response):
        return
    if response.header("content-type") != "application/problem+json":
        yield f"an error as {response.header('content-type')}"
        return
    body = _json(response)
    if not isinstance(body, dict) or not set(body) <= set(Problem.model_fields):
        yield f"a problem with other fields: {response.body[:200]!r}"
    elif body.get("status") != response.status or STATUS.get(body["code"]) != response.status:
        yield f"a problem of another status: {response.body[:200]!r}"
    elif not body.get("detail") or not body.get("title"):
        yield "a problem that says nothing"
    elif len(response.body) > 100_000:
        yield f"a problem of {len(response.body)} bytes"


def is_text(request: Request, response: Response, world: World) -> Iterator[str]:
    kind = response.header("content-type") or ""
    if response.ended and response.body and "json" in kind and _json(response) is None:
        yield f"a body that is no strict JSON: {response.body[:200]!r}"


def has_sane_headers(request: Request, response: Response, world: World) -> Iterator[str]:
    if not response.status:
        return
    names = [name.lower() for name, _ in response.headers]
    for name, value in response.headers:
        if not TOKEN.fullmatch(name) or not VALUE.fullmatch(value):
            yield f"a header that is none: {name!r}: {value!r}"
    if twice := {name for name in names if names.count(name) > 1} - {b"cache-control"}:
        yield f"headers that come twice: {twice}"
    if not SANE.fullmatch(response.header("x-request-id") or ""):
        yield f"no sane X-Request-ID: {response.header('x-request-id')!r}"
    length = response.header("content-length")
    whole = response.ended and request.method != "HEAD"
    if whole and length is not None and int(length) != len(response.body):
        yield f"Content-Length {length} of {len(response.body)} bytes"
    if response.body and not response.header("content-type"):
        yield "a body without a content type"
    needed = {401: "www-authenticate", 405: "allow", 429: "retry-after", 503: "retry-after"}
    if response.status in needed and not response.header(needed[response.status]):
        yield f"{response.status} without {needed[response.status]}"
    for name in ("set-cookie", "server", "x-powered-by"):
        if response.header(name):
            yield f"a header {name}"


def shows_no_inside(request: Request, response: Response, world: World) -> Iterator[str]:
    shown = response.body.decode("utf-8", "replace")
    headers = repr(response.headers)
    for mark in [*INSIDE, str(world.folder)]:
        if (mark in shown or mark in headers) and not request.holds(mark.encode()):
            yield f"shows {mark!r}: {shown[:300]}"


def keeps_tenants_apart(request: Request, response: Response, world: World) -> Iterator[str]:
    """No canary of another one; the sender's own words may come back."""
    hidden = ALL if request.who in (*NOBODY, "tight") else CANARIES[request.who]
    shown = response.body + repr(response.headers).encode()
    for name in world.foreign(request.who):
        if request.holds(name):
            shown = shown.replace(name, b"")
    for canary in hidden:
        if canary.encode() in shown and not request.holds(canary.encode()):
            yield f"{request.who} sees {canary}: {response.body[:300]!r}"
    if request.who in NOBODY and response.status < 400 and world.route(response).startswith("/v1"):
        yield f"{request.who} gets {response.status}"
    changes = request.method not in ("GET", "HEAD", "OPTIONS")
    bases = world.route(response).startswith("/v1/knowledge-bases")
    if request.who in ("ann", "bob") and changes and bases and 0 < response.status < 400:
        yield f"{request.who} may ask alone and gets {response.status}"


def is_stream(request: Request, response: Response, world: World) -> Iterator[str]:
    """Events that are named, numbered from 1 and end with `done`; an answer or an error before."""
    if "event-stream" not in (response.header("content-type") or ""):
        return
    blocks = [b for b in response.body.decode("utf-8").split("\n\n") if b and b[0] != ":"]
    events = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]
    if not response.ended:
        events = events[:-1]
    if [event.get("id") for event in events] != [str(n) for n in range(1, len(events) + 1)]:
        yield f"events out of order: {[event.get('id') for event in events]}"
    names = [event.get("event") for event in events]
    if not set(names) <= EVENTS:
        yield f"unknown events: {names}"
    if response.ended and (names[-1:] != ["done"] or not {"answer", "error"} & set(names)):
        yield f"a stream that ends without an answer: {names}"
    for event in events:
        data = json.loads(event["data"], parse_constant=_refused)
        if event["event"] == "error":
            yield f"an error in the stream: {data}"


RULES: list[Rule] = [
    answers, is_described, is_problem, is_text, has_sane_headers, shows_no_inside,
    keeps_tenants_apart, is_stream,
]  # fmt: skip


def _for_nobody(request: Request, response: Response) -> bool:
    """Whether it is the status that proxies log where the client has left."""
    return request.leaves and response.status == 499 and not response.body


def _json(response: Response) -> Any:
    """None for what is no strict JSON."""
    try:
        return json.loads(response.body.decode("utf-8"), parse_constant=_refused)
    except ValueError:
        return None


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


@lru_cache(maxsize=200)
def _validator(schema: str, components: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema) | {"components": json.loads(components)})
