"""Calls to a Qdrant server: one time limit and one place of retries, and the service's errors."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import grpc
import httpx
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from ingest.errors import DependencyError, DependencyTimeout, ServiceError

T = TypeVar("T")

FIRST_WAIT_S = 0.1
"""Seconds before the first retry; twice as long before each later one."""

PASSING = {429, 500, 502, 503, 504}
PASSING_GRPC = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.ABORTED,
}


class MissingCollection(DependencyError):
    """The collection or alias is not there (any more)."""


class CollectionExists(DependencyError):
    """Another one made it first."""


class QdrantCalls:
    """Runs calls that may be repeated: all that the store does may.

    The client itself retries nothing. `timeout_s` is for a call with all its retries.
    """

    def __init__(self, where: str, *, timeout_s: float, retries: int) -> None:
        self._where = where
        self._timeout_s = timeout_s
        self._retries = retries

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """Raises DependencyTimeout, MissingCollection, CollectionExists or DependencyError."""
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        try:
            async with asyncio.timeout_at(deadline):
                return await self._repeated(call, deadline)
        except TimeoutError as error:
            raise self._timeout() from error

    async def _repeated(self, call: Callable[[], Awaitable[T]], deadline: float) -> T:
        attempt = 0
        while True:
            try:
                return await call()
            except (ServiceError, TimeoutError):
                raise
            except Exception as error:
                wait = _wait(error, attempt)
                late = wait is None or asyncio.get_running_loop().time() + wait > deadline
                if wait is None or late or attempt == self._retries:
                    raise self._explained(error) from error
            attempt += 1
            await asyncio.sleep(wait)

    def _explained(self, error: Exception) -> DependencyError:
        if _is_timeout(error):
            return self._timeout()
        reason = f"Qdrant at {self._where} failed: {_reason(error)}"
        if "already exists" in reason:
            return CollectionExists(reason)
        return MissingCollection(reason) if _is_missing(error) else DependencyError(reason)

    def _timeout(self) -> DependencyTimeout:
        return DependencyTimeout(f"Qdrant at {self._where} took over {self._timeout_s:g} s")


def _wait(error: Exception, attempt: int) -> float | None:
    """Seconds until the next attempt; None where it would end as this one did."""
    backoff = FIRST_WAIT_S * 2.0**attempt
    match error:
        case ResourceExhaustedResponse():
            return max(backoff, float(error.retry_after_s))
        case UnexpectedResponse():
            return backoff if error.status_code in PASSING else None
        case ResponseHandlingException():
            lost = isinstance(error.source, httpx.TransportError) and not _is_timeout(error)
            return backoff if lost else None
        case grpc.aio.AioRpcError():
            return backoff if error.code() in PASSING_GRPC else None
    return None


def _is_timeout(error: Exception) -> bool:
    if isinstance(error, grpc.aio.AioRpcError):
        return bool(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED)
    source = error.source if isinstance(error, ResponseHandlingException) else error
    return isinstance(source, httpx.TimeoutException)


def _is_missing(error: Exception) -> bool:
    """Whether Qdrant says that it has no such collection: a 404 of anything else is a failure."""
    match error:
        case UnexpectedResponse():
            unknown = error.status_code == 404
        case grpc.aio.AioRpcError():
            unknown = error.code() == grpc.StatusCode.NOT_FOUND
        case _:
            unknown = isinstance(error, ValueError) and "not found" in str(error)
    return unknown and "ollection" in _reason(error)


def _reason(error: Exception) -> str:
    """In one line, as Qdrant put it."""
    match error:
        case UnexpectedResponse():
            text = f"{error.status_code} {error.content.decode(errors='replace')}"
        case ResponseHandlingException():
            text = f"{type(error.source).__name__} {error.source}"
        case grpc.aio.AioRpcError():
            text = f"{error.code().name} {error.details()}"
        case _:
            text = str(error) or type(error).__name__
    return " ".join(text.split())[:300]
