"""Writes a row for every request that asks, changes or deletes, and for keys that were refused."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.adapters.memory_limits import MemoryLimits
from api.audit import SEEN, AuditLog, AuditRow, audit_row, open_audit
from api.keys import WRITTEN
from api.settings import Settings
from ingest.errors import ServiceError

T = TypeVar("T")

READS = ("GET", "HEAD", "OPTIONS")
REFUSALS_PER_MINUTE = 60
"""Rows of refused keys: who has none may not fill the disk."""

log = logging.getLogger("crag.audit")


class AuditTrail:
    """The log, in a thread of its own. It is opened when the first row comes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._log: AuditLog | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="audit")

    async def add(self, row: AuditRow) -> None:
        """A row that cannot be kept is an error in the log: the request was served already."""
        try:
            await self._run(lambda: self._opened().add(row))
        except ServiceError as error:
            log.error("a row of the audit trail is lost: %s; %s", row, error)

    async def sweep(self, ttl_days: float) -> int:
        return await self._run(lambda: self._opened().sweep(ttl_days))

    async def close(self) -> None:
        if self._log is not None:
            await self._run(self._log.close)
        self._pool.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _opened(self) -> AuditLog:
        if self._log is None:
            self._log = open_audit(self._settings, make=False)
        return self._log


class Audited:
    """Pure ASGI. The routes tell what they know by `note`; without a credential there is no row."""

    def __init__(self, app: ASGIApp, *, trail: AuditTrail) -> None:
        self._app = app
        self._trail = trail
        self._refusals = MemoryLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen: dict[str, str] = {}
        scope[SEEN] = seen
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            if "who" in seen and scope["method"] not in READS:
                seen.setdefault("outcome", "ok" if 0 < status < 400 else str(status))
                await self._add(audit_row(**seen))
            elif status == 401 and (given := Headers(scope=scope).get("authorization")):
                await self._refused(given)

    async def _refused(self, given: str) -> None:
        if await self._refusals.take({"all": REFUSALS_PER_MINUTE}):
            return
        told = WRITTEN.fullmatch(given.removeprefix("Bearer "))
        who = f"crag_{told[1]}" if told else "another credential"
        await self._add(audit_row("use_key", "", who, outcome="unauthorized"))

    async def _add(self, row: AuditRow) -> None:
        with anyio.CancelScope(shield=True):
            await self._trail.add(row)
