"""Hostile values: texts, numbers, JSON of any shape, and segments of an address."""

from functools import cache
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

NASTY = [
    "",
    " ",
    "\x00",
    "handbook\x00",
    "a\r\nX-Injected: yes",
    "\ud800",
    "\udfff\ud800",
    "\ufeff",
    "\uffff",
    "\U0010ffff",
    "\u202eright to left",
    "zero\u200bwidth",
    "e" + "\u0301" * 300,
    "\u0085\u2028\u2029",
    "аcme",  # Cyrillic
    "ｈａｎｄｂｏｏｋ",
    "١٢٣",
    "²",
    "İıßﬁ",
    "👩‍👩‍👧‍👦" * 20,
    "../../etc/passwd",
    "..\\..\\windows",
    "/absolute",
    "~root",
    "x' || tenant == 'acme",
    "' OR '1'='1' --",
    '{"$ne": ""}',
    '") or true',
    "*",
    "%",
    "%00",
    "%s%n%d",
    "{0.__class__}",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "$(id)",
    "<script>alert(1)</script>",
    "NaN",
    "null",
    "user:",
    "group:a,b",
    "user:\u200b",
    "__proto__",
    "None",
    "0x10",
    "1e999",
    "9" * 400,
    "a" * 64,
    "a" * 129,
    "v" + "1." * 200,
    "2026-02-30",
    "0000-00-00",
    "١٢٣٤-٠١-٠١",
]
LONG = [
    "a" * 4_000,
    "a" * 4_001,
    "(" * 4_000,
    "1," * 2_000,
    "a@" * 2_000,
    "?" * 4_000,
    "and " * 1_000,
    "A.B." * 1_000,
    "\u0301" * 4_000,
    "2024-01-" * 500,
    "not " * 1_000,
    "key=" * 1_000,
    "-----BEGIN " * 360,
    " " * 3_999 + "a",
    "\U0001f600" * 4_000,
    "x" * 100_000,
]


BOOLEANS = st.booleans()
TEXTS = st.sampled_from(NASTY) | st.text(st.characters(), max_size=30) | st.sampled_from(LONG)
NUMBERS = [0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400]
FLOATS = [0.1, -0.0, 5e-324, 1e308, float("inf"), float("-inf"), float("nan")]
SCALARS = st.one_of(
    TEXTS,
    st.sampled_from([None, True, False, *NUMBERS, *FLOATS]),
    st.integers(),
    st.floats(),
)


def _deep(levels: int, lists: bool) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value] if lists else {"from": value}
    return value


SHAPES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=6,
)
DEEP = st.builds(_deep, st.sampled_from([5, 60, 300, 900]), st.booleans())
WIDE = st.sampled_from([["a"] * 70, ["a"] * 5_000, dict.fromkeys(map(str, range(40)), 1)])
JSON = st.one_of(SCALARS, SHAPES, DEEP, WIDE)
"""Any shape, some of them deep, some of them wide."""


def quoted(text: str) -> bytes:
    return quote(text.encode("utf-8", "surrogatepass")[:8_000], safe="").encode()


RAW = [b"%", b"%zz", b"%ff", b"%00", b"%ED%A0%80", b"..", b".", b"%2e%2e%2f", b"a/b", b"", b";a"]
SEGMENTS = st.sampled_from(RAW) | TEXTS.map(quoted)
"""Of an address; also such as are no text."""


@cache
def below(number: int) -> st.SearchStrategy[int]:
    return st.integers(0, number - 1)


def seldom(draw: st.DrawFn, times: int) -> bool:
    """Once in so many times."""
    return draw(below(times)) == times - 1
