"""The one place where a failed port becomes a recorded fallback."""

from collections.abc import Awaitable
from typing import TypeVar

from ingest.errors import ServiceError
from nodes.state import Degraded

T = TypeVar("T")

MAX_DETAIL = 200
"""Code points of an error's text that are kept."""


async def or_fallback(
    work: Awaitable[T], instead: T, *, node: str, fallback: str
) -> tuple[T, list[Degraded]]:
    """The result and no entry; or `instead` and one entry that says what failed.

    Any Exception of a port counts as its failure: ports may be other people's code. Cancellation
    is no failure and passes.
    """
    try:
        return await work, []
    except Exception as error:
        kind = error.code if isinstance(error, ServiceError) else type(error).__name__
        return instead, [Degraded(node, kind, fallback, str(error)[:MAX_DETAIL])]
