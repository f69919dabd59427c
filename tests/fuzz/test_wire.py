"""Bytes that are no HTTP, or half of it, over a real socket: the server refuses and lives."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api_clients import served, settings_on
from tests.api_fakes import FakeService

POST = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"question": "q", "knowledge_base": "handbook"}'
RAW = {
    "no http": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "no target": b"GET\r\n\r\n",
    "other version": b"GET /livez HTTP/9.9\r\n\r\n",
    "no host": b"GET /v1/runs HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "bad host": b"GET /v1/runs HTTP/1.1\r\nHost: [::1\r\n\r\n",
    "nul in a header": b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX-A: a\x00b\r\n\r\n",
    "folded header": b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX-A: a\r\n b\r\n\r\n",
    "long target": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "long header": b"GET /v1/runs HTTP/1.1\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n",
    "latin-1 target": b"GET /v1/runs/\xe4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "length is no number": POST + b"Content-Length: \xb2\r\n\r\n" + BODY,
    "negative length": POST + b"Content-Length: -1\r\n\r\n" + BODY,
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + BODY,
    "length and chunked": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + BODY,
    "huge length": POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + BODY,
    "bad chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + BODY,
    "huge chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 16 + b"\r\n" + BODY,
    "shorter than told": POST + b"Content-Length: 4000\r\n\r\n" + BODY,
    "half a header": b"GET /livez HTTP/1.1\r\nHo",
    "connect": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    "whole address": b"GET http://evil.example/v1/runs HTTP/1.1\r\nHost: evil.example\r\n\r\n",
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(settings_on(tmp_path_factory.mktemp("wire")), FakeService()) as address:
        yield address


@pytest.mark.parametrize("raw", RAW.values(), ids=RAW)
def test_bytes_that_are_no_request_are_refused(url: str, raw: bytes) -> None:
    """A request that was begun is given up by its sender; the answer may be none."""
    answer = exchanged(url, raw)
    if answer:
        status = answer.split(b" ", 2)[1]
        assert status.startswith(b"4") or (status == b"200" and b"HTTP/1.1\r\n" in raw), answer
    assert b"Traceback" not in answer and b".py" not in answer
    assert httpx.get(f"{url}/livez", trust_env=False).json() == {"status": "alive"}


def exchanged(url: str, raw: bytes) -> bytes:
    """All that comes back until the server hangs up, or has no more to say for a moment."""
    address = urlsplit(url)
    answer = b""
    with socket.create_connection((address.hostname, address.port), timeout=0.3) as client:
        try:
            client.sendall(raw)
            while piece := client.recv(65_536):
                answer += piece
        except (TimeoutError, ConnectionError):
            pass
    return answer
