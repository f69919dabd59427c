"""A real PostgreSQL for tests: on a socket in a temporary folder, as another user than root."""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.unprivileged import unprivileged

STARTS_WITHIN_S = 60
USER = "crag"


def binaries() -> Path | None:
    """The folder with initdb and postgres, newest first where Debian has several; else None."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_major)
    return debian[-1].parent if debian else None


def needed_binaries() -> Path:
    """Skips the test where there are none."""
    found = binaries()
    if found is None:
        pytest.skip("no PostgreSQL server: install the package postgresql")
    return found


def _major(initdb: Path) -> float:
    return float(initdb.parents[1].name)


class Postgres:
    """One server; `url` is of its first database. No TCP: any number may run side by side."""

    def __init__(self, bin: Path, folder: Path) -> None:
        self._bin = bin
        self._folder = folder
        self._as: dict[str, Any] = unprivileged(folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self.url = self._url("postgres")
        self._run("initdb", "-D", "data", "-U", USER, "-A", "trust", "-N", "--encoding=UTF8")

    def start(self) -> None:
        options = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off"
        command = [self._bin / "postgres", "-D", "data", "-k", self._folder, "-h", ""]
        log = (self._folder / "log").open("ab")
        self._process = subprocess.Popen(
            [*command, *options.split()], cwd=self._folder, stdout=log, stderr=log, **self._as
        )
        log.close()
        deadline = time.monotonic() + STARTS_WITHIN_S
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError((self._folder / "log").read_text()) from None
                time.sleep(0.05)

    def stop(self) -> None:
        """At once: open sessions end."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)
            self._process = None

    def new_database(self) -> str:
        self._databases += 1
        name = f"test_{self._databases}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._url(name)

    def _url(self, database: str) -> str:
        return f"postgresql:///{database}?host={self._folder}&user={USER}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._bin / program, *arguments]
        subprocess.run(command, cwd=self._folder, check=True, capture_output=True, **self._as)


@contextmanager
def postgres(bin: Path) -> Iterator[Postgres]:
    """A short path: that of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="crag-pg-", ignore_cleanup_errors=True) as folder:
        server = Postgres(bin, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
