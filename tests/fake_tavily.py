"""A Tavily on the loopback interface that answers well, badly, late or never, as it is told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Write = Callable[[bytes], object]

PAGE = {
    "url": "https://example.org/refunds",
    "title": "Refunds",
    "content": "Refunds are paid within 5 business days.",
    "score": 0.9,
}


def _silent(write: Write, closing: threading.Event) -> None:
    closing.wait(30)


class FakeTavily:
    """What the next searches get, and the bodies and keys that came in."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status = 200
        self.body: bytes | Callable[[Write, threading.Event], None] = b""
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.closing = threading.Event()
        self.gives(PAGE)

    def gives(self, *results: object) -> None:
        self.status, self.body = 200, json.dumps({"results": list(results)}).encode()

    def fails(self, status: int, error: str = "no") -> None:
        self.status, self.body = status, json.dumps({"detail": {"error": error}}).encode()

    def says(self, body: bytes, status: int = 200) -> None:
        self.status, self.body = status, body

    def hangs(self) -> None:
        self.body = _silent

    def drips(self) -> None:
        """A byte now and then: every single read is in time, the whole never."""

        def drip(write: Write, closing: threading.Event) -> None:
            while not closing.wait(0.05):
                write(b" ")

        self.body = drip


@contextmanager
def fake_tavily(port: int = 0) -> Iterator[FakeTavily]:
    """A running server; `CRAG_WEB__BASE_URL` takes its url."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            tavily.requests.append(json.loads(content))
            tavily.keys.append(self.headers.get("Authorization", ""))
            self.send_response(tavily.status)
            self.send_header("Content-Type", "application/json")
            body = tavily.body
            try:
                if callable(body):
                    self.end_headers()
                    body(self.wfile.write, tavily.closing)
                elif tavily.status != 204:
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                else:
                    self.end_headers()
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client gave up, as it should

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    tavily = FakeTavily(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield tavily
    finally:
        tavily.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    with fake_tavily(port=8099) as running:
        running.gives(
            {
                "url": "https://example.org/gateways",
                "title": "Gateways compared",
                "content": "The housing of the Q-Hub 200 is light grey. Others are black.",
                "score": 0.9,
            }
        )
        print(f"one page about gateways, at {running.url}; interrupt to end", flush=True)
        threading.Event().wait()
