"""Serves the app with uvicorn, and says in the lock file where local commands find it."""

import asyncio
import functools
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TextIO

import uvicorn
from fastapi import FastAPI

from api.app import create_app
from api.first_requests import first_requests
from api.request_id import MaskedLine, WithRequestId
from api.settings import Settings, asks_for_credentials, check_exposure
from api.stored_keys import any_stored
from graph.compose import Service, open_graph
from ingest.data_folder import Holder
from ingest.errors import ConfigurationError, DependencyError

EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
"""What to say instead of an address that means all of them."""


LEFT_TO_TELL_S = 2
"""Seconds in which the readers of runs that outlived the grace are told so."""


class Server(uvicorn.Server):
    """Ends the runs that outlive the grace, before their connections are closed on them."""

    def __init__(self, app: FastAPI, *, grace_s: int) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=grace_s + LEFT_TO_TELL_S,
            )
        )
        self._app = app
        self._grace_s = grace_s

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.create_task(self._end_runs())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    async def _end_runs(self) -> None:
        await asyncio.sleep(self._grace_s)
        await self._app.state.lifetime.end_runs()


def serve(settings: Settings) -> None:
    """Returns after an interrupt or SIGTERM, once open requests had their grace.

    Raises what opening the service raises, and ConfigurationError for an address that is taken.
    """
    check_exposure(settings, any_stored)
    listening = _listen(settings.host, settings.port)
    port = listening.getsockname()[1]
    url = f"http://{_reachable(settings.host)}:{port}"
    token = secrets.token_urlsafe(32)
    failures: list[Exception] = []

    def failed(error: Exception) -> None:
        failures.append(error)
        server.should_exit = True

    async def ready(service: Service) -> None:
        print(await first_requests(service, url, with_key=_with_key(settings)), flush=True)

    opening = functools.partial(open_graph, holder=Holder(os.getpid(), url, token))
    app = create_app(settings, token=token, open_service=opening, ready=ready, failed=failed)
    server = Server(app, grace_s=settings.api.shutdown_grace_s)
    # uvicorn raises the signal again once it is done; ending as asked is no failure.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    logged = _log_to_stderr(mask=settings.privacy.mask)
    with logged, closing(listening), suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
    if failures:
        raise failures[0]


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, proto)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()  # local commands that come while it starts wait instead of giving up
    except OSError as error:
        reason = error.strerror or error
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --port"
        ) from None
    return listening


def _reachable(host: str) -> str:
    plain = EVERY_ADDRESS.get(host, host)
    return f"[{plain}]" if ":" in plain and not plain.startswith("[") else plain


def _with_key(settings: Settings) -> bool:
    """Whether a first request needs a key; where it cannot be known, it had better have one."""
    try:
        return asks_for_credentials(settings) or any_stored(settings)
    except DependencyError:
        return True


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to stderr as it is then: who runs the server in a process may put another there."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


@contextmanager
def _log_to_stderr(*, mask: bool) -> Iterator[None]:
    """Until the server ends: a process that serves and goes on has its own log again."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    handler = _Stderr()
    handler.addFilter(WithRequestId())
    line = MaskedLine if mask else logging.Formatter
    handler.setFormatter(line("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"))
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for noisy in ("httpx", "httpcore", "sentence_transformers"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers[:] = before
        root.setLevel(level)
