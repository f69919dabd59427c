"""Bodies over their limit are refused, by what they announce and by what arrives."""

import re

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import problem, problem_response

MB = 1024 * 1024
LENGTH = re.compile("[0-9]{1,18}")
ALLOWED = "crag.allowed_body"
"""Where a request has what it may hold."""


class Allowed:
    """How large the body of a request may be; who sends it may narrow that, before it is read."""

    def __init__(self, mb: int, headers: Headers) -> None:
        self.mb = mb
        announced = headers.get("content-length", "")
        # What is no length, or one that no int holds, is found out by what arrives.
        self._announced = int(announced) if LENGTH.fullmatch(announced) else 0

    def narrow(self, mb: int) -> None:
        """Raises HTTPException where more than that was announced."""
        self.mb = min(mb, self.mb)
        self.check(self._announced)

    def check(self, size: int) -> None:
        if size > self.mb * MB:
            # The framework lets this one pass while it parses a body, and no other.
            raise HTTPException(
                413, f"the body is larger than {self.mb} MB", {"Connection": "close"}
            )


class BodyLimit:
    """Pure ASGI. Uploads, which are POSTs to `…/documents`, have a limit of their own."""

    def __init__(self, app: ASGIApp, *, body_mb: int, upload_mb: int) -> None:
        self._app = app
        self._body_mb = body_mb
        self._upload_mb = upload_mb

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._upload_mb if scope["path"].endswith("/documents") else self._body_mb
        allowed = Allowed(limit, Headers(scope=scope))
        try:
            allowed.narrow(limit)
        except HTTPException as error:
            response = problem_response(problem("too_large", error.detail))
            response.headers.update(error.headers or {})
            await response(scope, receive, send)
            return
        scope[ALLOWED] = allowed
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            allowed.check(arrived)
            return message

        await self._app(scope, counted, send)
