"""Works through the server that holds the data folder, with the token in its lock file."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from ingest.data_folder import held_by, holder_of, is_held
from ingest.errors import (
    DataFolderHeld,
    DependencyError,
    InvalidRequest,
    NotFound,
    ServiceError,
    UnknownKnowledgeBase,
)
from ingest.settings import PREFIX
from ingest.terminal import say

READY_WITHIN_S = 300.0
"""How long a starting server may load its models, where other processes take the cores, too."""

ANNOUNCED_WITHIN_S = 3.0
"""How long a starting server may hold the folder before it says its address."""

NOT_FOR_A_RUN = ("CRAG_TEST_", "CRAG_DATA_DIR", "CRAG_HOST", "CRAG_PORT")
"""Settings that a command through a server uses itself, or that only a server start needs."""

T = TypeVar("T")

ERRORS: dict[str, type[ServiceError]] = {
    "invalid_request": InvalidRequest,
    "too_large": InvalidRequest,
    "not_found": NotFound,
    "unknown_knowledge_base": UnknownKnowledgeBase,
    "dependency_down": DependencyError,
}


class Client:
    """The server's HTTP interface. Its problems are raised as the errors they were made from."""

    def __init__(self, url: str, token: str, *, held: str) -> None:
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(300, connect=3),
            trust_env=False,
        )
        self._held = held

    def wait_until_ready(self) -> None:
        """Raises DataFolderHeld for a server that cannot be reached or does not get ready."""
        deadline = time.monotonic() + READY_WITHIN_S
        waited = False
        while self._send("GET", "/readyz").status_code != 200:
            if time.monotonic() > deadline:
                raise DataFolderHeld(f"{self._held} (it does not get ready)")
            if not waited:
                say("the server is starting; waiting until it is ready", sys.stderr)
            waited = True
            time.sleep(0.2)

    def json(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content: bytes | None = None,
        **query: str | list[str],
    ) -> Any:
        """What the server answers; None for an empty answer."""
        response = self._send(method, path, json=body, content=content, params=query)
        if response.is_error:
            raise _error(response)
        return response.json() if response.content else None

    def events(self, path: str, body: object) -> Iterator[tuple[str, dict[str, Any]]]:
        """(event, data) of a stream as they come. An `error` event is raised."""
        try:
            with self._http.stream("POST", path, json=body) as response:
                if response.is_error:
                    response.read()
                    raise _error(response)
                for name, data in _parsed(response.iter_lines()):
                    if name == "error":
                        raise _problem(data)
                    yield name, data
        except httpx.HTTPError as error:
            raise DependencyError(f"the server broke off: {error}") from error

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        try:
            if request.get("json") is None:
                request.pop("json", None)
            return self._http.request(method, path, **request)
        except httpx.ConnectError:
            raise DataFolderHeld(f"{self._held} (it does not answer)") from None
        except httpx.HTTPError as error:
            raise DependencyError(f"the server broke off: {error}") from error


def here_or_through(data_dir: Path, here: Callable[[], T], through: Callable[[Client], T]) -> T:
    """Works `here` where nobody holds the folder, else `through` the server that does.

    Raises DataFolderHeld for a holder that serves nothing or cannot be reached.
    """
    client = server_for(data_dir)
    if client is None:
        try:
            return here()
        except DataFolderHeld:
            client = server_for(data_dir)
            if client is None:
                raise
    with client:
        _say_ignored()
        return through(client)


def _say_ignored() -> None:
    """A server has its own settings: those of the command's environment change nothing."""
    names = {name: name.upper() for name in os.environ}
    ignored = [
        name
        for name, read_as in names.items()
        if read_as.startswith(PREFIX) and not read_as.startswith(NOT_FOR_A_RUN)
    ]
    if ignored:
        listed = ", ".join(sorted(ignored))
        say(f"note: the running server has its own settings; ignored: {listed}", sys.stderr)


def server_for(data_dir: Path) -> Client | None:
    """A client for the server that holds the folder, once it is ready; None where nobody does."""
    deadline = time.monotonic() + ANNOUNCED_WITHIN_S
    while is_held(data_dir):
        holder, held = holder_of(data_dir), held_by(data_dir)
        if holder is not None and holder.url is not None and holder.token is not None:
            client = Client(holder.url, holder.token, held=held)
            client.wait_until_ready()
            return client
        if time.monotonic() > deadline:
            raise DataFolderHeld(held)
        time.sleep(0.1)
    return None


def _parsed(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def _error(response: httpx.Response) -> ServiceError:
    try:
        return _problem(response.json())
    except ValueError:
        return DependencyError(f"the server answered {response.status_code}")


def _problem(body: dict[str, Any]) -> ServiceError:
    code, detail = str(body.get("code", "internal")), str(body.get("detail", "no detail"))
    return ERRORS.get(code, ServiceError)(detail, code=code)
