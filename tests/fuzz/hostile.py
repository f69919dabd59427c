"""Hostile requests to one operation: what its description allows, and good ones, spoiled."""

from functools import cache
from typing import Any
from urllib.parse import urlsplit

import requests
import schemathesis
from hypothesis import assume
from hypothesis import strategies as st
from schemathesis import GenerationMode

from tests.fuzz.bodies import BODIES, Operation, json_body
from tests.fuzz.headers import HEADERS
from tests.fuzz.request import Request
from tests.fuzz.uploads import KINDS, upload
from tests.fuzz.values import BOOLEANS, SEGMENTS, TEXTS, quoted, seldom
from tests.fuzz.world import ACME, CANARIES, GLOBEX, KB, NOBODY, RUNS, World

Requests = st.SearchStrategy[Request]

UPLOAD = ("POST", "/v1/knowledge-bases/{knowledge_base}/documents")
QUERIES: dict[Operation, list[str]] = {("GET", "/v1/runs"): ["limit"], UPLOAD: ["name", "acl"]}
WHO = st.sampled_from([*CANARIES, *CANARIES, "tight", *NOBODY])
METHODS = st.sampled_from(["GET", "POST", "HEAD", "OPTIONS", "PATCH", "TRACE", "X", "get"])
ENDS = st.sampled_from([b"/", b"//", b"/..", b"/acl", b"%2F", b"/%00", b"\\", b";v=1"])
ODD = st.sampled_from([b"?&&==;", b"?%", b"?limit", b"?a=%ff&acl=%00", b"?" + b"acl=*&" * 2_000])
OUTSIDE = ("/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc")
"""Served, and not in the description."""


def operations(openapi: dict[str, Any]) -> list[Operation]:
    described = [(m.upper(), path) for path, one in openapi["paths"].items() for m in one]
    return [*described, *(("GET", path) for path in OUTSIDE)]


def described(operation: Operation, world: World) -> Requests:
    """By schemathesis: what the description allows, and, where it can tell, what it does not."""
    method, path = operation
    schema = schemathesis.openapi.from_dict(world.openapi)[path][method]
    fixed = all(
        parameter.definition.get("schema", {}).get("pattern") or parameter.location.value != "path"
        for parameter in schema.path_parameters
    )
    modes = [GenerationMode.POSITIVE]
    if fixed and (operation in BODIES or operation in QUERIES):
        modes.append(GenerationMode.NEGATIVE)
    cases = st.one_of([schema.as_strategy(generation_mode=mode) for mode in modes])
    return st.builds(_of_case, WHO, cases)


def _of_case(who: str, case: Any) -> Request:
    try:
        given = case.as_transport_kwargs(base_url="http://localhost")
        made = requests.Request(**given).prepare()
    except (requests.RequestException, UnicodeError, ValueError):
        assume(False)
    parts = urlsplit(made.url or "")
    target = parts.path + ("?" + parts.query if parts.query else "")
    kept = [(n, v) for n, v in made.headers.items() if not n.startswith(("X-Schema", "User-Agent"))]
    body = made.body.encode() if isinstance(made.body, str) else made.body
    found = tuple((_latin(n), _latin(v)) for n, v in kept if n != "Authorization")
    return Request(who, str(made.method), target.encode("ascii"), found, (body,) if body else ())


def _latin(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8")


@st.composite
def spoiled(draw: st.DrawFn, operation: Operation, world: World) -> Request:
    """A good request of the operation, with some things about it as they should not be."""
    method, path = operation
    good = b"?name=a.md" if operation == UPLOAD else b""
    query = good if draw(BOOLEANS) else _query(draw, operation)
    typed, body = upload(draw) if operation == UPLOAD else json_body(draw, operation, world)
    extra = draw(HEADERS) if seldom(draw, 3) else []
    return Request(
        draw(WHO),
        draw(METHODS) if seldom(draw, 20) else method,
        _path(draw, path, world) + query,
        tuple(dict([*([typed] if body else []), *extra]).items()),
        _pieces(draw, body),
        leaves=seldom(draw, 40),
    )


def _path(draw: st.DrawFn, path: str, world: World) -> bytes:
    known = {
        "{knowledge_base}": (KB, KB, f"only-{ACME}", f"only-{GLOBEX}"),
        "{document_id}": tuple(world.documents.values()),
        "{run_id}": tuple(RUNS.values()),
        "{thread_id}": (f"thread-{ACME}", f"thread-{GLOBEX}", "t"),
    }
    out = path.encode()
    for name, names in known.items():
        if name in path:
            one = draw(SEGMENTS) if seldom(draw, 3) else draw(_names(names))
            out = out.replace(name.encode(), one)
    return out + draw(ENDS) if seldom(draw, 30) else out


@cache
def _names(names: tuple[str, ...]) -> st.SearchStrategy[bytes]:
    return st.sampled_from([name.encode() for name in names])


@cache
def _parameters(operation: Operation) -> st.SearchStrategy[list[bytes]]:
    names = st.sampled_from(QUERIES.get(operation, ["unknown"]))
    pair = st.builds(lambda name, text: name.encode() + b"=" + quoted(text), names, TEXTS)
    file = st.builds(lambda text, kind: b"name=" + quoted(text[:99] + kind), TEXTS, KINDS)
    return st.lists(pair | file if operation == UPLOAD else pair, max_size=3)


def _query(draw: st.DrawFn, operation: Operation) -> bytes:
    return draw(ODD) if seldom(draw, 10) else b"?" + b"&".join(draw(_parameters(operation)))


def _pieces(draw: st.DrawFn, body: bytes) -> tuple[bytes, ...]:
    """As the network may cut it."""
    if not body or not seldom(draw, 5):
        return (body,) if body else ()
    at = draw(st.integers(0, len(body)))
    return (body[:at], b"", body[at:])
