"""Bodies over their limit are refused, by what they announce and by what arrives."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import problem, problem_response

MB = 1024 * 1024


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
        refusal = f"the body is larger than {limit} MB"
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdigit() and int(announced) > limit * MB:
            response = problem_response(problem("too_large", refusal))
            response.headers["Connection"] = "close"
            await response(scope, receive, send)
            return
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit * MB:
                # The framework lets this one pass while it parses a body, and no other.
                raise HTTPException(413, refusal)
            return message

        await self._app(scope, counted, send)
