"""The service behind the routes: opened and loaded in the background, closed at the end."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from api.active_runs import ActiveRuns
from api.admission import Admission
from api.audit_trail import AuditTrail
from api.errors import NotReady
from api.settings import Settings
from graph.compose import Service
from graph.retention import swept
from ingest.errors import DataFolderHeld, DependencyError

log = logging.getLogger("crag.api")

OPTIMIZE_AFTER_S = 5.0
"""Quiet seconds after an upload; building the search structures after each would be quadratic."""

STANDBY_S = 1.0
"""Seconds between two looks whether the data folder is free."""

OpenService = Callable[[Settings], AbstractAsyncContextManager[Service]]


async def ignore(service: Service) -> None:
    """A hook that nobody set."""


def logged(error: Exception) -> None:
    log.error("the service could not start", exc_info=error)


class Lifetime:
    """Ready once the models are loaded, so that the first question is as fast as the second.

    Hooks: `ready` when questions are answered, `failed` when that does not come to pass.
    """

    def __init__(
        self,
        settings: Settings,
        open_service: OpenService,
        *,
        ready: Callable[[Service], Awaitable[None]] = ignore,
        failed: Callable[[Exception], None] = logged,
    ) -> None:
        self.runs = ActiveRuns(
            queue=settings.api.stream_queue,
            stall_s=settings.api.stream_stall_s,
        )
        self.admission = Admission(settings)
        self.trail = AuditTrail(settings)
        self._settings = settings
        self._open_service = open_service
        self._ready = ready
        self._failed = failed
        self._service: Service | None = None
        self._optimizing: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    @property
    def service(self) -> Service:
        """Raises NotReady while the models load and after the end has begun."""
        if self._service is None:
            raise NotReady("the service is loading its models; try again in a few seconds")
        return self._service

    def uploaded(self) -> None:
        """Documents came in: once no more do, what makes search fast is built anew."""
        if self._optimizing is not None:
            self._optimizing.cancel()
        self._optimizing = asyncio.create_task(self._optimize(self.service))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        living = asyncio.create_task(self._live())
        try:
            yield
        finally:
            loaded = self._service is not None
            self._service = None
            if self._optimizing is not None:
                self._optimizing.cancel()
            await self.end_runs()
            self._ending.set()
            if not loaded:
                living.cancel()
            await asyncio.wait([living])
            await self.admission.close()
            await self.trail.close()

    async def end_runs(self) -> None:
        """Ends those that go on and those that wait; each reader is told."""
        self.admission.end()
        await self.runs.close()

    async def _optimize(self, service: Service) -> None:
        await asyncio.sleep(OPTIMIZE_AFTER_S)
        try:
            await service.corpus.writer.optimize()
        except DependencyError as error:
            log.warning("the index stays unoptimized: %s", error)

    async def _open(self, held: AsyncExitStack) -> Service:
        """In standby it waits until the other process has ended, however that ended."""
        while True:
            try:
                return await held.enter_async_context(self._open_service(self._settings))
            except DataFolderHeld as error:
                if not self._settings.api.standby:
                    raise
                log.info("standing by: %s", error)
            await asyncio.sleep(STANDBY_S)

    async def _live(self) -> None:
        """One task opens and closes: an async context manager belongs to the task it began in."""
        began = time.monotonic()
        try:
            async with AsyncExitStack() as held:
                log.info("opening the data folder %s", self._settings.data_dir)
                service = await self._open(held)
                log.info("loading the models; %s embeds", service.corpus.embedder.fingerprint)
                await service.load()
                await service.corpus.embedder.encode(["warm up"])
                self._service = service
                log.info("ready after %.1f s", time.monotonic() - began)
                await self._ready(service)
                async with swept("audit rows", self._settings.audit.ttl_days, self.trail.sweep):
                    await self._ending.wait()
        except Exception as error:  # noqa: BLE001 - the edge of a background task
            self._failed(error)
