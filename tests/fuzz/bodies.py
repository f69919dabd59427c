"""Hostile JSON: good bodies with values, shapes and bytes as they should not be."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from tests.fuzz.request import Header
from tests.fuzz.values import BOOLEANS, JSON, TEXTS, below, seldom
from tests.fuzz.world import ACME, GLOBEX, KB, QUESTION, World

Operation = tuple[str, str]

ASK = {"question": QUESTION, "knowledge_base": KB}
FULL = ASK | {
    "history": [{"question": "Refunds?", "answer": "Yes."}],
    "thread_id": "t",
    "filters": {"status": "current", "version": {"from": "1"}},
    "options": {"rewrites": 0},
}
BODIES: dict[Operation, list[dict[str, Any]]] = {
    ("POST", "/v1/ask"): [ASK, FULL],
    ("POST", "/v1/ask/stream"): [ASK, FULL],
    ("POST", "/v1/search"): [ASK | {"limit": 5, "filters": {"language": ["en", "de"]}}],
    ("POST", "/v1/knowledge-bases"): [
        {"name": "new", "description": "d", "acl": ["*"], "web": True}
    ],
    ("PUT", "/v1/knowledge-bases/{knowledge_base}/acl"): [{"acl": ["group:hr", "user:ann"]}],
    ("PUT", "/v1/knowledge-bases/{knowledge_base}/documents/{document_id}/acl"): [{"acl": ["*"]}],
}
"""A good body of each operation that takes JSON."""
OPTIONS = [
    "rewrites", "chat_calls", "tokens", "deadline_s", "candidates", "keep", "sentences", "upper",
    "lower", "min_confidence", "web", "clarify", "cache", "fusion", "exact", "collapse", "today",
    "per_document", "mmr", "around", "strips", "query_filters", "tenant", "principals", "mask",
]  # fmt: skip
FILTERS = ["document_id", "language", "version", "status", "effective", "tenant", "acl", "revision"]
TYPED = (b"content-type", b"application/json")
KNOWN = {field for bodies in BODIES.values() for body in bodies for field in body}
TWISTS: list[Callable[[bytes], bytes]] = [
    lambda raw: raw[: len(raw) // 2],
    lambda raw: raw + raw,
    lambda raw: b"\xef\xbb\xbf" + raw,
    lambda raw: raw.decode("utf-8", "replace").encode("utf-16"),
    lambda raw: raw.replace(b'"', b'"\xff', 1),
    lambda raw: raw.replace(b"{", b'{"limit": ' + b"9" * 5_000 + b", ", 1),
    lambda raw: raw.replace(b"{", b'{"options": {"tokens": ' + b"9" * 4_000 + b"}, ", 1),
    lambda raw: raw.replace(b"{", b'{"options": {"tokens": 1' + b"e" * 1 + b"400}, ", 1),
    lambda raw: raw.replace(b"{", b'{"filters": {"version": ' + b"7" * 4_200 + b"}, ", 1),
    lambda raw: raw.replace(b"}", b', "a": ' + b"[" * 100_000 + b"}"),
    lambda raw: b"[" * 50_000,
    lambda raw: b'{"a":' * 50_000,
    lambda raw: raw.replace(b",", b",,", 1),
    lambda raw: raw.replace(b'"', b"'"),
    lambda raw: raw.replace(b'"', b'"\x00', 1),
    lambda raw: b"",
    lambda raw: b" " * 2_000,
    lambda raw: b" " * 1_100_000,
    lambda raw: b"null",
    lambda raw: b"[]",
    lambda raw: b'"text"',
    lambda raw: b"-",
    lambda raw: b"NaN",
    lambda raw: b"question=a&knowledge_base=handbook",
]


@cache
def _field(field: str, known: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Values of a field as they should not be; some are almost right, or another one's."""
    anything = JSON
    if field == "filters":
        ends = st.dictionaries(st.sampled_from(["from", "to", "ne"]), JSON, max_size=2)
        inside = st.one_of(JSON, ends, st.sampled_from(known))
        return st.dictionaries(st.sampled_from(FILTERS), inside, max_size=3) | JSON
    if field == "options":
        small = st.one_of(st.integers(0, 5), st.floats(0, 1), st.booleans(), JSON)
        return st.dictionaries(st.sampled_from(OPTIONS) | TEXTS, small, max_size=3) | JSON
    if field == "acl":
        kinds = st.sampled_from(["user:", "group:", ""])
        return st.lists(st.builds(str.__add__, kinds, TEXTS), max_size=3) | JSON
    if field in ("question", "description"):
        anything = TEXTS | JSON
    theirs = {"knowledge_base": "only", "thread_id": "thread"}.get(field)
    names = st.sampled_from([f"{theirs}-{ACME}", f"{theirs}-{GLOBEX}"])
    return names | anything if theirs else anything


@cache
def _keys(given: tuple[str, ...]) -> st.SearchStrategy[str]:
    usual = st.sampled_from([*given, *given, *given, "question", "unknown"])
    return usual | usual | usual | TEXTS


GOOD = {operation: st.sampled_from(bodies) for operation, bodies in BODIES.items()}
NONE = st.sampled_from([b"", b"", b"{}", b"x", b"\xff" * 100])
OTHERS = st.sampled_from(TWISTS)


def json_body(draw: st.DrawFn, operation: Operation, world: World) -> tuple[Header, bytes]:
    if operation not in GOOD:
        return TYPED, draw(NONE)
    value, known = draw(GOOD[operation]), tuple(world.documents.values())
    for _ in range(draw(below(3))):
        value = _spoil(draw, value, known)
    try:
        raw = json.dumps(value, ensure_ascii=draw(BOOLEANS)).encode("utf-8", "surrogatepass")
    except RecursionError:
        assume(False)
    return TYPED, draw(OTHERS)(raw) if seldom(draw, 6) else raw


def _spoil(draw: st.DrawFn, value: Any, known: tuple[str, ...]) -> Any:
    if not isinstance(value, dict) or seldom(draw, 15):
        return draw(JSON)
    key = draw(_keys(tuple(value)))
    if seldom(draw, 6):
        return {name: one for name, one in value.items() if name != key}
    return value | {key: draw(_field(key if key in KNOWN else "", known))}
