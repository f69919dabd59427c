"""A real Redis for tests: on a free loopback port, in a temporary folder, never as root."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.unprivileged import unprivileged

STARTS_WITHIN_S = 30


class RedisServer:
    """One server that keeps nothing on disk; stopped and started again it has the same `url`."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._as = unprivileged(folder)
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        options = f"--bind 127.0.0.1 --port {self._port} --appendonly no --dir {self._folder}"
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, *options.split(), "--save", ""], stdout=log, stderr=log, **self._as
            )
        deadline = time.monotonic() + STARTS_WITHIN_S
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                    return
                except redis.ConnectionError:
                    if time.monotonic() > deadline or self._process.poll() is not None:
                        raise RuntimeError((self._folder / "log").read_text()) from None
                    time.sleep(0.02)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def flush(self) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.flushall()


def program() -> str | None:
    return shutil.which("redis-server")


@contextmanager
def redis_server(program: str) -> Iterator[RedisServer]:
    with tempfile.TemporaryDirectory(prefix="crag-redis-", ignore_cleanup_errors=True) as folder:
        server = RedisServer(program, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
