"""A request id for every request: taken over or made, echoed, and in every line of the log."""

import logging
import re
import time
import uuid
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ingest.loaders.normalise import printable
from nodes.masking import masked

SANE = re.compile(r"[A-Za-z0-9._:-]{1,128}")
QUIET = ("/livez", "/readyz")
"""Asked every few seconds by machines; their log lines would bury the others."""

request_id: ContextVar[str] = ContextVar("request_id", default="-")
log = logging.getLogger("crag.access")


class RequestId:
    """Pure ASGI: it neither buffers a stream nor hides a client that leaves."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        identity = given if SANE.fullmatch(given) else uuid.uuid4().hex
        token = request_id.set(identity)
        started, status = time.perf_counter(), 0

        async def echo(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = identity
            await send(message)

        try:
            await self._app(scope, receive, echo)
        finally:
            if scope["path"] not in QUIET:
                ms = 1000 * (time.perf_counter() - started)
                log.info("%s %s %d %.1f ms", scope["method"], scope["path"], status, ms)
        # Not where an exception goes on: who reports it, outside, names the request by it.
        request_id.reset(token)


class WithRequestId(logging.Filter):
    """Gives every log record its `request_id`."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class MaskedLine(logging.Formatter):
    """A line of the log, its traceback too, without secrets and e-mail addresses."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """One line, whatever stands in a path or a name: nobody writes a line of his own."""
        return printable(super().formatMessage(record)).replace("\n", " ")
