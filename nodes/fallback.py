"""The one place where a failed port becomes a recorded fallback."""

import logging
import re
from collections.abc import Awaitable
from typing import TypeVar

from ingest.errors import ServiceError
from ingest.loaders.normalise import printable
from nodes.state import Degraded

T = TypeVar("T")

log = logging.getLogger("crag.nodes")

PATH = re.compile(r"file:/+\S+|(?<![\w/.])/(?:[^\s/:'\"]+/)+[^\s/:'\"]*")
"""A path of this machine: an answer goes to people who must not learn it. The log has it."""

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
        told = printable(str(error))
        log.warning("%s fell back (%s): %s", node, fallback, told)
        detail = PATH.sub("(a file)", told)[:MAX_DETAIL]
        return instead, [Degraded(node, kind, fallback, detail)]
