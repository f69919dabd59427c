"""Sends hostile requests to a world, judges each response, and counts."""

import asyncio
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.request import Request, Response
from tests.fuzz.rules import faults
from tests.fuzz.world import World, world_on

LOOKS_EVERY = 20
"""Requests between two looks at /livez."""
COMPARED = ("content-type", "cache-control", "www-authenticate", "retry-after", "allow")


@dataclass
class Attack:
    """An open world with an event loop of its own, and what was counted."""

    world: World
    loop: asyncio.AbstractEventLoop
    log: "Errors"
    sent: int = 0
    counts: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    slowest: dict[str, tuple[float, str]] = field(default_factory=dict)

    def faults_of(self, request: Request) -> list[str]:
        """Sends it; what is wrong with the response, and with what it left behind."""
        return self.loop.run_until_complete(self._faults_of(request))

    async def _faults_of(self, request: Request) -> list[str]:
        self.log.lines.clear()
        response = await self.world.send(request)
        self._count(request, response)
        found = faults(request, response, self.world)
        found += await self._restored(request, response)
        found += await self._compared(request, response)
        if self.sent % LOOKS_EVERY == 1 or found:
            alive = await self.world.send(Request("none", "GET", b"/livez"))
            if alive.status != 200 or alive.body != b'{"status":"alive"}':
                found.append(f"/livez gives {alive.status}")
        return found + [f"an error in the log: {line}" for line in self.log.lines]

    def _count(self, request: Request, response: Response) -> None:
        self.sent += 1
        route = self.world.route(response) or "no route"
        self.counts[request.method, route, response.status] += 1
        if response.cpu_s > self.slowest.get(route, (0.0, ""))[0]:
            self.slowest[route] = response.cpu_s, request.as_line()

    async def _compared(self, request: Request, response: Response) -> list[str]:
        """What is there and may not be seen answers as what is not there."""
        twins = self.world.foreign(request.who)
        if request.leaves or not any(request.holds(old) for old in twins):
            return []
        twin = request.renamed(twins)
        other = await self.world.send(twin)
        found = await self._restored(twin, other)
        if _told(response, twins) != _told(other, twins):
            found.append(f"differs from unknown: {response.body[:300]!r}, {other.body[:300]!r}")
        return found

    async def _restored(self, request: Request, response: Response) -> list[str]:
        """A change is undone; it left the other tenant as it was."""
        if request.method in ("GET", "HEAD") or not 200 <= response.status < 300:
            return []
        route = self.world.route(response)
        if route.startswith("/v1/ask"):
            await self.world.forget_threads(request)
        if request.who not in ("acme", "globex") or "knowledge-bases" not in route:
            return []
        other = "globex" if request.who == "acme" else "acme"
        found = [] if await self.world.as_before(other) else [f"{other} has changed"]
        await self.world.restore(request.who)
        return found


def _told(response: Response, twins: dict[bytes, bytes]) -> tuple[object, ...]:
    """What a client learns, but for the names it sent; of a success that it is one."""
    if response.status < 400:
        return (response.status,)
    body = response.body
    for old, new in twins.items():
        body = body.replace(old, b"").replace(new, b"")
    return (response.status, body, *(response.header(name) for name in COMPARED))


class Errors(logging.Handler):
    """Keeps what the service and asyncio report as errors: a failure that no client is told."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(logging.Formatter().format(record)[-2_000:])


@contextmanager
def an_attack(folder: Path | None = None) -> Iterator[Attack]:
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None
    log, loop = Errors(), asyncio.new_event_loop()
    logging.getLogger().addHandler(log)
    try:
        with tempfile.TemporaryDirectory(dir=place, prefix="crag-test-") as made:
            opened = world_on(folder or Path(made))
            world = loop.run_until_complete(opened.__aenter__())
            try:
                yield Attack(world, loop, log)
            finally:
                loop.run_until_complete(opened.__aexit__(None, None, None))
    finally:
        logging.getLogger().removeHandler(log)
        loop.close()
