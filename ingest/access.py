"""Asks the source system, live, who may still read what is about to be shown."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from ingest.errors import DependencyError
from ingest.named_adapters import make_adapter
from ingest.records import DocumentRecord
from ingest.scope import Scope
from ingest.settings import AccessSettings

MAX_KEPT = 100_000
"""Decisions in memory, about 200 bytes each."""

log = logging.getLogger("crag.access")


class AccessResolver(Protocol):
    """A source system's own word on its documents. It can only take away what access lists give."""

    async def readable(self, scope: Scope, documents: Sequence[DocumentRecord]) -> Collection[str]:
        """The ids of those that the scope may read now; what is not named may not be read."""


class LiveAccess:
    """A resolver with a deadline and a short memory. Anything but a clear answer is a failure."""

    def __init__(
        self,
        resolver: AccessResolver,
        settings: AccessSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolver = resolver
        self._settings = settings
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[bool, float]] = {}

    async def readable(self, scope: Scope, documents: Sequence[DocumentRecord]) -> set[str]:
        """The ids of those that may be read. Raises DependencyError: then nothing may."""
        now = self._clock()
        known = {d.document_id: self._remembered(scope, d, now) for d in documents}
        asked = [d for d in documents if known[d.document_id] is None]
        if asked:
            admitted = await self._ask(scope, asked)
            self._keep(scope, asked, admitted, now)
            known |= {d.document_id: d.document_id in admitted for d in asked}
        return {key for key, admitted in known.items() if admitted}

    async def _ask(self, scope: Scope, documents: Sequence[DocumentRecord]) -> set[str]:
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                answer: Any = await self._resolver.readable(scope, documents)
            if isinstance(answer, str) or not all(isinstance(key, str) for key in answer):
                raise TypeError("the resolver must name documents by their ids")
            return set(answer)
        except Exception as error:
            log.warning("access could not be checked: %r", error)
            raise DependencyError("access to the documents could not be checked") from error

    def _remembered(self, scope: Scope, document: DocumentRecord, now: float) -> bool | None:
        admitted, until = self._kept.get((scope.fingerprint, document.document_id), (None, now))
        return admitted if until > now else None

    def _keep(
        self, scope: Scope, asked: Sequence[DocumentRecord], admitted: set[str], now: float
    ) -> None:
        if len(self._kept) + len(asked) > MAX_KEPT:
            self._kept.clear()
        until = now + self._settings.cache_s
        for document in asked:
            decision = document.document_id in admitted
            self._kept[scope.fingerprint, document.document_id] = (decision, until)


def open_access(settings: AccessSettings) -> LiveAccess | None:
    """Raises ConfigurationError for a class that cannot be had or made."""
    if settings.resolver is None:
        return None
    resolver = make_adapter(
        "CRAG_ACCESS__RESOLVER", settings.resolver, settings, given="access", method="readable"
    )
    return LiveAccess(resolver, settings)
