"""Hostile headers: any that a server lets through, so no line breaks and no NUL."""

from hypothesis import strategies as st

HOSTS = [
    b"", b"evil.example", b"localhost:99999", b"localhost:a", b"[::1", b"[::1]:80", b"]", b"a@b",
    b"127.0.0.1:8000", b"localhost/", b"local host", b"\xe4", b"a" * 5_000, b"localhost, evil",
    b"#",
]  # fmt: skip
TYPES = [
    b"", b"application/json", b"text/plain", b"application/json; charset=utf-16", b"application/",
    b"multipart/form-data", b"multipart/form-data; boundary=", b'multipart/form-data; boundary="',
    b"multipart/form-data; boundary=" + b"x" * 300, b"application/x-www-form-urlencoded",
    b"application/problem+json", b"APPLICATION/JSON", b"application/json, text/html", b"\xff/\xfe",
    b"application/json; " * 300, b"application/vnd.a+json", b"image/png", b"/", b";", b"json",
]  # fmt: skip
LENGTHS = [
    b"0", b"1", b"-1", b"abc", b"\xb2", b"1.5", b"1e9", b"0x10", b"+5", b" 7 ", b"5, 5", b"",
    b"999999999999", b"9" * 30, b"9" * 5_000, b"2000000",
]  # fmt: skip
CREDENTIALS = [
    b"", b"Bearer", b"Bearer ", b"bearer x", b"Basic YTpi", b"Bearer a.b.c", b"Bearer ..",
    b"Bearer \xff",
    b"Bearer eyJhbGciOiJub25lIn0.eyJ0ZW5hbnQiOiJhY21lIn0.", b"Bearer " + b"A" * 70_000, b"Digest a",
    b"Bearer crag_000000000000_" + b"-" * 43, b"Bearer a b", b"Token acme",
    b"Bearer crag_' OR 1=1",
]  # fmt: skip
NAMED: dict[bytes, list[bytes]] = {
    b"host": HOSTS,
    b"content-type": TYPES,
    b"content-length": LENGTHS,
    b"authorization": CREDENTIALS,
    b"x-request-id": [b"ok-1", b"", b"a b", b"\xe4", b"a" * 129, b"a" * 10_000, b"<b>", b"%0d%0a"],
    b"origin": [b"null", b"http://evil.example", b"http://[", b"\xff", b"https://localhost", b""],
    b"cache-control": [b"no-store", b"no-cache, no-store", b",,,", b"\xff", b"max-age=-1"],
    b"accept": [b"text/html", b"text/event-stream", b"*/*;q=0", b"application/json;q=nan", b""],
    b"accept-encoding": [b"gzip", b"br;q=1", b"identity;q=0", b"\x80"],
    b"content-encoding": [b"gzip", b"deflate", b"unknown"],
    b"transfer-encoding": [b"chunked", b"gzip, chunked", b"identity"],
    b"last-event-id": [b"0", b"-1", b"x"],
    b"range": [b"bytes=0-0", b"bytes=-1", b"bytes=9-1"],
    b"if-none-match": [b"*", b'"a"'],
    b"expect": [b"100-continue", b"nothing"],
    b"connection": [b"close", b"upgrade", b"host"],
    b"upgrade": [b"websocket", b"h2c"],
    b"cookie": [b"a=b", b"=", b";;", b"a=" + b"b" * 5_000],
    b"x-forwarded-for": [b"127.0.0.1", b"::1, x"],
    b"x-forwarded-host": [b"evil.example"],
    b"x-tenant": [b"acme"],
    b"x-http-method-override": [b"DELETE"],
    b"te": [b"trailers"],
}

NAMES = st.sampled_from(sorted(NAMED))
PRINTABLE = st.binary(max_size=40).map(lambda raw: bytes(b for b in raw if b > 31 and b != 127))
PAIRS = st.sampled_from([(name, value) for name in sorted(NAMED) for value in NAMED[name]])
HEADERS = st.lists(PAIRS | st.tuples(NAMES, PRINTABLE.map(bytes.strip)), min_size=1, max_size=3)
