"""Errors as problem+json: a stable `code`, and never an inside of the service.

ServiceError
 ├─ Unauthorized    401  no valid key
 ├─ Cancelled       409  the run was cancelled by another request
 ├─ ThreadBusy      409  the thread has a run already (graph/threads.py)
 ├─ TooLarge        413  the body is over its limit
 ├─ RateLimited     429  more than its credential may take, or than this process can
 └─ NotReady        503  the models are loading, or the service is going down
"""

import logging
from collections.abc import Mapping
from math import ceil
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.audit import note
from api.disconnect import ClientGone, nobody_left
from api.request_id import request_id
from ingest.errors import NotFound, ServiceError

log = logging.getLogger("crag.api")


class Unauthorized(ServiceError):
    code = "unauthorized"


class Cancelled(ServiceError):
    code = "cancelled"


class TooLarge(ServiceError):
    code = "too_large"


class RateLimited(ServiceError):
    """Worth another try after `retry_after_s` seconds."""

    code = "rate_limited"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s

    @property
    def in_whole_s(self) -> int:
        return max(1, ceil(self.retry_after_s))


class NotReady(ServiceError):
    code = "not_ready"


STATUS = {
    "invalid_request": 422,
    "unauthorized": 401,
    "not_found": 404,
    "unknown_knowledge_base": 404,
    "method_not_allowed": 405,
    "thread_busy": 409,
    "cancelled": 409,
    "too_large": 413,
    "rate_limited": 429,
    "internal": 500,
    "not_ready": 503,
    "dependency_down": 503,
    "dependency_timeout": 503,
}
TITLES = {
    401: "Unauthorized",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Content too large",
    422: "Invalid request",
    429: "Too many requests",
    500: "Internal error",
    503: "Service unavailable",
}
CODES = {400: "invalid_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
HEADERS = {
    401: {"WWW-Authenticate": "Bearer"},
    503: {"Retry-After": "2"},
}
HIDDEN = {
    "internal": "something went wrong here; the log has the details",
    "dependency_down": "a part that this request needs did not answer",
    "dependency_timeout": "a part that this request needs did not answer in time",
}
"""Details of these would show the inside of the service; they go to the log."""


MAX_ERRORS = 20
MAX_TEXT = 200
"""Fields that one problem names, and code points of each: it is no larger than what was sent."""

NOTHING_HERE = "there is nothing at this address"


def going_down() -> NotReady:
    return NotReady("the service is going down; ask again in a few seconds")


def nothing_here() -> NotFound:
    """For what is not there, and for what a credential may not do: both look the same."""
    return NotFound(NOTHING_HERE)


def problem_of(error: Exception) -> dict[str, Any]:
    """The body of a problem: type, title, status, code and detail; when to try again, where that is
    known, since a stream has no header left to say so."""
    code = error.code if isinstance(error, ServiceError) and error.code in STATUS else "internal"
    if code in HIDDEN:
        log.error("%s: %s", code, error, exc_info=error)
    more = {"retry_after_s": error.in_whole_s} if isinstance(error, RateLimited) else {}
    return problem(code, HIDDEN.get(code, str(error)), **more)


def problem(code: str, detail: str, **more: Any) -> dict[str, Any]:
    status = STATUS[code]
    title = TITLES[status]
    return {
        "type": "about:blank",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail,
        **more,
    }


def problem_response(body: Mapping[str, Any]) -> JSONResponse:
    status = body["status"]
    return JSONResponse(
        body, status, media_type="application/problem+json", headers=HEADERS.get(status)
    )


def install(app: FastAPI) -> None:
    """Every error that leaves the app is a problem."""
    app.add_exception_handler(ServiceError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(ClientGone, nobody_left)
    app.add_exception_handler(ClientDisconnect, nobody_left)  # in the middle of its body
    app.add_exception_handler(Exception, _failed)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    body = problem_of(error)
    note(request, outcome=body["code"])
    response = problem_response(body)
    response.headers["X-Request-ID"] = request_id.get()
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.in_whole_s)
    return response


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        return await _failed(request, error)
    found = [
        {"field": _field(e)[:MAX_TEXT], "message": _message(e)[:MAX_TEXT]}
        for e in error.errors()[:MAX_ERRORS]
    ]
    first = found[0]
    detail = f"{first['field']}: {first['message']}" if first["field"] else first["message"]
    return problem_response(problem("invalid_request", detail, errors=found))


def _field(problem: Mapping[str, Any]) -> str:
    """`history.0.question`; nothing where the body is no JSON at all."""
    if problem["type"] == "json_invalid":
        return ""
    return ".".join(str(part) for part in problem["loc"][1:])


def _message(problem: Mapping[str, Any]) -> str:
    return str(problem["msg"]).removeprefix("Value error, ")


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """What the framework itself refuses: an unknown path, a wrong method, a bad form."""
    if not isinstance(error, HTTPException):
        return await _failed(request, error)
    code = CODES.get(error.status_code, "invalid_request")
    details = {
        "not_found": NOTHING_HERE,
        "method_not_allowed": f"{request.method} is not possible here",
    }
    response = problem_response(problem(code, details.get(code, error.detail)))
    response.headers.update(error.headers or {})
    return response
