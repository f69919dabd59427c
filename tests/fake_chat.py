"""An OpenAI-compatible chat model on the loopback interface: scripted, recorded, broken as told.

The same question gets the same answer. `python -m tests.fake_chat --port N` serves it alone;
POST /fake/faults {"kind": …, "times": …} and GET /fake/requests then do what the methods do here.
"""

import json
import math
import select
import socket
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from tests.fake_chat_script import default_script
from tests.fake_chat_wire import Body, Reply, embeddings, stream_events, tokens, whole

Kind = Literal["ok", "status", "cut_off", "bad_json", "refusal", "hang", "garbage", "drip", "close"]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with a request.

    `after` events of a stream (hang, close), `pace_s` a byte (drip), `latency_s` before anything.
    """

    kind: Kind = "ok"
    status: int = 500
    message: str = ""
    retry_after: str = ""
    latency_s: float = 0.0
    pace_s: float = 0.05
    after: int = 0


@dataclass
class Request:
    """One call: its body, when it began and ended (monotonic seconds), whether the client left."""

    body: Body
    key: str
    began: float
    ended: float | None = None
    disconnected: bool = False


class FakeChat:
    """What the next calls get, and the calls that came in. `url` is the base_url for a client."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.latency_s = 0.0
        self.script: Callable[[Body], str | Reply] = lambda body: Reply(*default_script(body))
        self.fault_of: Callable[[Body], Fault | None] = lambda body: None
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._next: list[Fault] = []
        self._lock = threading.Lock()

    def breaks(self, kind: Kind, times: int = 1, **details: Any) -> None:
        """The next `times` calls; `fault_of` decides by the request instead."""
        self._next += [Fault(kind, **details)] * times

    def fails(self, status: int, times: int = 1, retry_after: str = "") -> None:
        self.breaks("status", times, status=status, retry_after=retry_after)

    def works(self) -> None:
        """Forgets the faults that were not met yet."""
        self._next.clear()

    def most_at_once(self) -> int:
        """The largest number of calls that were answered at the same time."""
        began = [(r.began, 1) for r in self.requests]
        ended = [(r.ended, -1) for r in self.requests if r.ended is not None]
        now = most = 0
        for _, step in sorted(began + ended):
            now += step
            most = max(most, now)
        return most

    def begin(self, body: Body, key: str) -> tuple[Request, Fault]:
        with self._lock:
            request = Request(body, key, time.monotonic())
            self.requests.append(request)
            fault = self.fault_of(body) or (self._next.pop(0) if self._next else Fault())
        return request, fault

    def reply(self, body: Body, fault: Fault) -> Reply:
        said = self.script(body)
        reply = Reply(said) if isinstance(said, str) else said
        if fault.kind == "refusal":
            return Reply("", refusal="I cannot help with that.")
        if fault.kind == "bad_json":
            return Reply('{"answer": "never clo')
        parts = tokens(reply.text)
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or len(parts) + 1
        if fault.kind == "cut_off":
            limit = min(limit, max(1, len(parts) // 2))
        if len(parts) < limit:
            return reply
        return Reply("".join(parts[:limit]), reply.first, reply.refusal, "length")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    chat: FakeChat

    def do_GET(self) -> None:
        if self.path == "/fake/requests":
            self._json([asdict(request) for request in self.chat.requests])
        else:
            self._json({"object": "list", "data": [{"id": "fake", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == "/fake/faults":
            self.chat.breaks(**body)
            return self._json({})
        if self.path.endswith("/embeddings"):
            return self._json(embeddings(body))
        if not self.path.endswith("/chat/completions"):
            return self._json({"error": {"message": f"no {self.path}"}}, 404)
        request, fault = self.chat.begin(body, self.headers.get("Authorization", ""))
        try:
            self._wait(self.chat.latency_s + fault.latency_s)
            self._answer(body, fault)
        except (BrokenPipeError, ConnectionResetError):
            request.disconnected = self.close_connection = True
        finally:
            request.ended = time.monotonic()

    def _answer(self, body: Body, fault: Fault) -> None:
        streaming = bool(body.get("stream"))
        if fault.kind == "status":
            message = fault.message or f"fake {fault.status}"
            error = {"error": {"message": message, "type": "fake", "code": None}}
            return self._json(error, fault.status, fault.retry_after)
        if fault.kind in ("hang", "close") and not (streaming and fault.after):
            return self._leave(fault)
        reply = self.chat.reply(body, fault)
        if not streaming:
            return self._send(json.dumps(whole(body, reply)).encode(), fault)
        self._head(200, "text/event-stream", None)
        for n, event in enumerate(stream_events(body, reply)):
            if fault.kind in ("hang", "close") and n == fault.after:
                return self._leave(fault)
            sent = "{never" if fault.kind == "garbage" else json.dumps(event)
            self._write(f"data: {sent}\n\n".encode(), fault)
        return self._write(b"data: [DONE]\n\n", fault)

    def _send(self, content: bytes, fault: Fault) -> None:
        content = b"<html>502 from a proxy" if fault.kind == "garbage" else content
        self._head(200, "application/json", len(content))
        self._write(content, fault)

    def _json(self, value: object, status: int = 200, retry_after: str = "") -> None:
        content = json.dumps(value).encode()
        self._head(status, "application/json", len(content), retry_after)
        self.wfile.write(content)

    def _head(self, status: int, kind: str, length: int | None, retry_after: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if retry_after:
            self.send_header("Retry-After", retry_after)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _write(self, content: bytes, fault: Fault) -> None:
        if fault.kind != "drip":
            self._wait(0)
            self.wfile.write(content)
            return
        for byte in content:
            self.wfile.write(bytes([byte]))
            self._wait(fault.pace_s)

    def _leave(self, fault: Fault) -> None:
        """Closes the connection; a hang waits until the client does."""
        if fault.kind == "hang":
            self._wait(math.inf)
        self.close_connection = True

    def _wait(self, seconds: float) -> None:
        """Until then or the server's end. Raises ConnectionResetError when the client left."""
        until = time.monotonic() + seconds
        while not self.chat.closing.is_set():
            left = max(0.0, min(until - time.monotonic(), 0.02))
            if select.select([self.connection], [], [], left)[0] and not self.connection.recv(
                1, socket.MSG_PEEK
            ):
                raise ConnectionResetError
            if time.monotonic() >= until:
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


@contextmanager
def fake_chat(port: int = 0) -> Iterator[FakeChat]:
    """A running server; `CRAG_CHAT__BASE_URL` takes its url."""
    handler = type("BoundHandler", (Handler,), {})
    server = Server(("127.0.0.1", port), handler)
    chat = handler.chat = FakeChat(f"http://127.0.0.1:{server.server_port}/v1")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield chat
    finally:
        chat.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    asked = ArgumentParser(description=__doc__)
    asked.add_argument("--port", type=int, default=0)
    asked.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    options = asked.parse_args()
    with fake_chat(options.port) as running:
        running.latency_s = options.latency
        print(running.url, flush=True)
        threading.Event().wait()
