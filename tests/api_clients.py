"""Two ways to a fake service: a client without a network, and a real server on a free port."""

import asyncio
import functools
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from api.app import create_app
from api.lifetime import OpenService
from api.settings import ApiSettings, Settings
from graph.compose import Service
from ingest.data_folder import Holder
from tests.api_fakes import FakeService

TOKEN = "token-of-the-lock-file"


def settings_on(folder: Path, **api: Any) -> Settings:
    return Settings(data_dir=folder / "crag", api=ApiSettings(**api))


@asynccontextmanager
async def client_of(
    settings: Settings, service: OpenService, *, token: str | None = None, ready: bool = True
) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a network; the app has started, and with `ready` has loaded."""
    loaded = asyncio.Event()

    async def on_ready(service: Service) -> None:
        loaded.set()

    app = create_app(settings, token=token, open_service=service, ready=on_ready)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        if ready:
            await loaded.wait()
        yield client


@contextmanager
def served(settings: Settings, service: FakeService, *, wait: bool = True) -> Iterator[str]:
    """The address of a real server on a free port, announced in the lock file."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"

    listening.listen()
    opening = functools.partial(service, holder=Holder(1, url, TOKEN))
    app = create_app(settings, token=TOKEN, open_service=opening)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        if wait:
            _wait_until_ready(url)
        yield url
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                return
        except httpx.ConnectError:
            pass
        time.sleep(0.02)
    raise TimeoutError(url)
