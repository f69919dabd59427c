"""The one place where a port that failed, or that hangs, becomes a recorded fallback."""

import asyncio
import logging
import re
from collections.abc import Awaitable
from typing import TypeVar

from ingest.errors import ServiceError
from ingest.loaders.normalise import printable
from nodes.budget import PASSED, BudgetSpent, meter
from nodes.masking import masked
from nodes.state import Degraded

T = TypeVar("T")

log = logging.getLogger("crag.nodes")

PATH = re.compile(r"file:/+\S+|(?<![\w/.])/(?:[^\s/:'\"]+/)+[^\s/:'\"]*")
"""A path of this machine: an answer goes to people who must not learn it. The log has it."""

MAX_DETAIL = 200
"""Code points of an error's text that are kept."""


async def or_fallback(
    work: Awaitable[T], instead: T, *, node: str, fallback: str, cut: bool = True
) -> tuple[T, list[Degraded]]:
    """The result and no entry; or `instead` and one entry that says what failed.

    Any Exception of a port counts as its failure: ports may be other people's code. Cancellation
    is no failure and passes. Work that outlasts the run's deadline is `cut`, as BudgetSpent.
    """
    try:
        async with asyncio.timeout(meter().port_seconds_left() if cut else None) as limit:
            return await work, []
    except Exception as error:
        late = isinstance(error, TimeoutError) and limit.expired()
        return instead, [_recorded(BudgetSpent(PASSED) if late else error, node, fallback)]


def _recorded(error: Exception, node: str, fallback: str) -> Degraded:
    kind = error.code if isinstance(error, ServiceError) else type(error).__name__
    told = masked(printable(str(error)))
    log.warning("%s fell back (%s): %s", node, fallback, told)
    return Degraded(node, kind, fallback, PATH.sub("(a file)", told)[:MAX_DETAIL])
