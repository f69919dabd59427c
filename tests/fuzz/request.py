"""A request as it arrives, its response as it leaves, and how one becomes the other."""

import asyncio
import json
import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message

Header = tuple[bytes, bytes]
HANGS_AFTER_S = 60.0


@dataclass(frozen=True)
class Request:
    """`who` is a member of the world, whose credential it carries; `body` are the pieces in which
    it arrives. A client that `leaves` is gone after them, before the end is there."""

    who: str
    method: str
    target: bytes
    headers: tuple[Header, ...] = ()
    body: tuple[bytes, ...] = ()
    leaves: bool = False

    def as_line(self) -> str:
        """One line of JSON; bytes are written as Latin-1, so that each is one character."""
        return json.dumps(asdict(self), default=lambda part: part.decode("latin-1"))

    @classmethod
    def from_line(cls, line: str) -> "Request":
        given = json.loads(line)
        return cls(
            given["who"],
            given["method"],
            given["target"].encode("latin-1"),
            tuple((n.encode("latin-1"), v.encode("latin-1")) for n, v in given["headers"]),
            tuple(piece.encode("latin-1") for piece in given["body"]),
            given["leaves"],
        )

    def renamed(self, names: dict[bytes, bytes]) -> "Request":
        """With other names in address and body."""
        target, body = self.target, b"".join(self.body)
        for old, new in names.items():
            target, body = target.replace(old, new), body.replace(old, new)
        return replace(self, target=target, body=(body,))

    def holds(self, name: bytes) -> bool:
        return name in self.target or name in b"".join(self.body)


@dataclass
class Response:
    """What the application sent. `endpoint` is what the router found, if anything;
    `failed` the exception that left the application."""

    status: int = 0
    headers: list[Header] = field(default_factory=list)
    body: bytes = b""
    ended: bool = False
    endpoint: Any = None
    failed: str = ""
    cpu_s: float = 0.0

    def header(self, name: str) -> str | None:
        found = [v.decode("latin-1") for n, v in self.headers if n.lower() == name.encode()]
        return ", ".join(found) if found else None


async def send(app: ASGIApp, request: Request, credential: str | None) -> Response:
    """The response of an ASGI application, which is given what uvicorn would give it."""
    response, asked, done = Response(), list(request.body), asyncio.Event()

    async def receive() -> Message:
        if asked:
            piece = asked.pop(0)
            return {"type": "http.request", "body": piece, "more_body": request.leaves or asked}
        if not request.body and not request.leaves and not done.is_set():
            asked.append(b"")
            return {"type": "http.request", "body": asked.pop(), "more_body": False}
        if not request.leaves:
            await done.wait()
        return {"type": "http.disconnect"}

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not response.status, "a second response began"
            response.status, response.headers = message["status"], list(message["headers"])
        elif message["type"] == "http.response.body":
            assert response.status and not response.ended, "a body out of turn"
            response.body += message.get("body", b"")
            response.ended = not message.get("more_body", False)
            if response.ended:
                done.set()

    scope = _scope(request, credential)
    began = time.process_time()
    try:
        async with asyncio.timeout(HANGS_AFTER_S):
            await app(scope, receive, sent)
    except Exception as error:  # noqa: BLE001 - the edge: any that comes out is a finding
        response.failed = repr(error)
    response.cpu_s = time.process_time() - began
    response.endpoint = scope.get("endpoint")
    return response


def _scope(request: Request, credential: str | None) -> dict[str, Any]:
    path, _, query = request.target.partition(b"?")
    given = [(name.lower(), value) for name, value in request.headers]
    if credential is not None:
        given.insert(0, (b"authorization", f"Bearer {credential}".encode()))
    if not any(name == b"host" for name, _ in given):
        given.append((b"host", b"localhost"))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 50_000),
        "scheme": "http",
        "root_path": "",
        "method": request.method,
        "path": unquote(path.decode("ascii")),
        "raw_path": path,
        "query_string": query,
        "headers": given,
    }
