"""Where the keys that `crag keys` makes are kept, and how a running service asks for them."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypeVar

from api.adapters.key_rows import KEYS
from api.adapters.sql_keys import SqlKeys
from api.keys import Key, KeyStore, key_for
from api.settings import Settings
from ingest.data_folder import DataFolder
from ingest.database import open_database
from ingest.errors import DataFolderHeld, DependencyError

T = TypeVar("T")

THREADS = 4

AWAY_S = 30.0
"""Seconds until a database that did not answer is asked again whether there are keys."""

log = logging.getLogger("crag.api")


def open_keys(settings: Settings) -> KeyStore:
    """In the database that the settings name, else in the data folder, which is made if need be."""
    if settings.database.url is None:
        with suppress(DataFolderHeld):  # by a server, which only reads keys
            DataFolder(settings.data_dir).close()
    return _opened(settings)


def _found(settings: Settings) -> KeyStore | None:
    """As `open_keys`, but makes nothing: none where no key was ever made."""
    if settings.database.url is None and not (settings.data_dir / KEYS.file).exists():
        return None
    return _opened(settings)


def _opened(settings: Settings) -> KeyStore:
    return SqlKeys(open_database(settings.database, settings.data_dir, KEYS))


def any_stored(settings: Settings) -> bool:
    """Whether a key was ever made. Raises DependencyError."""
    store = _found(settings)
    try:
        return store is not None and store.any()
    finally:
        if store is not None:
            store.close()


def count_live(settings: Settings) -> int:
    """How many keys open something now. Raises DependencyError."""
    store = _found(settings)
    if store is None:
        return 0
    try:
        return sum(key.state(datetime.now(UTC)) == "live" for key in store.listed())
    finally:
        store.close()


class StoredKeys:
    """Asked for every request, so that a key is good and gone at once, in threads of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store: KeyStore | None = None
        self._any: bool | None = None
        self._ask_after = 0.0
        self._opening = threading.Lock()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="api-keys")

    async def key(self, told: str) -> Key | None:
        """The live key that was told. Raises DependencyError."""
        return await self._run(lambda: self._key(told))

    async def any(self) -> bool:
        """Whether a key was ever made. Where the database is away: what it said last.

        Raises DependencyError where it never said anything.
        """
        if self._any is None or (not self._any and time.monotonic() >= self._ask_after):
            try:
                self._any = await self._run(self._any_now)
            except DependencyError as error:
                if self._any is None:
                    raise
                self._ask_after = time.monotonic() + AWAY_S
                log.warning("not known whether there are API keys by now: %s", error)
        return self._any

    async def close(self) -> None:
        if self._store is not None:
            await self._run(self._store.close)
        self._pool.shutdown()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _key(self, told: str) -> Key | None:
        store = self._opened()
        return key_for(store, told) if store is not None else None

    def _any_now(self) -> bool:
        store = self._opened()
        return store is not None and store.any()

    def _opened(self) -> KeyStore | None:
        with self._opening:
            if self._store is None:
                self._store = _found(self._settings)
            return self._store
