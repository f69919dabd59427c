"""`crag serve` as a process of its own on a free port, for the tests that use it from outside."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

CRAG = Path(sys.executable).with_name("crag")
STARTS_WITHIN_S = 240
"""A start takes some seconds; many times as long where other processes take the cores."""
ENDS_WITHIN_S = 10


class Server:
    """`crag serve` on a free port, with what it prints in files beside the data folder."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.url = ""
        self.folder = folder
        outside = {k: v for k, v in os.environ.items() if not k.startswith("CRAG_")}
        self.environment = outside | settings | {"CRAG_DATA_DIR": str(folder / "data")}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def printed(self) -> str:
        """Both streams of the last start, for the message of a failed test."""
        return "".join((self.folder / f"serve.{s}").read_text() for s in ("out", "err"))

    def start(self) -> None:
        """Returns once it says that it is ready."""
        out, err = self.folder / "serve.out", self.folder / "serve.err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            self._process = subprocess.Popen(
                [CRAG, "serve", "--port", "0"],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not (ready := re.search(r"Ready on (http://127\.0\.0\.1:\d+) ", out.read_text())):
            assert self._process.poll() is None, f"it ended before it was ready: {self.printed}"
            assert time.monotonic() < deadline, f"it did not get ready: {self.printed}"
            time.sleep(0.05)
        self.url = ready[1]

    def terminate(self) -> int:
        """Its exit code after SIGTERM. Raises TimeoutExpired where it goes on too long."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(ENDS_WITHIN_S)

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another `crag` on the same data folder."""
        return subprocess.run(
            [CRAG, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=STARTS_WITHIN_S,
        )


def http(method: str, url: str, **request: Any) -> httpx.Response:
    return httpx.request(method, url, timeout=60, trust_env=False, **request)
