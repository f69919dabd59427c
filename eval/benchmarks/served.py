"""A server for benchmarks, and the questions that it is asked."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

BASE = "handbook"
FEWEST = 60
START_S = 300.0


@dataclass(frozen=True)
class Served:
    address: str
    pid: int


def questions_from(file: Path, limit: int) -> list[str]:
    """Spread over the file. Raises SystemExit for fewer than FEWEST."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    every = list(dict.fromkeys(str(json.loads(line)["question"]) for line in lines))
    if min(len(every), limit) < FEWEST:
        raise SystemExit(f"{FEWEST} distinct questions are needed; {file} has {len(every)}")
    chosen = np.linspace(0, len(every) - 1, min(limit, len(every))).astype(int)
    return [every[n] for n in chosen]


@contextmanager
def server(
    folder: Path, documents: Path, *, cache: bool, calibration: Path | None = None
) -> Iterator[Served]:
    """`crag serve` on a data folder of its own that has these documents, once it is ready."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    crag = [sys.executable, "-m", "crag"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CRAG_")}
    environment = {**kept, "CRAG_DATA_DIR": str(folder / "data")}
    environment["CRAG_CACHE__ENABLED"] = str(cache).lower()
    if calibration is not None:
        environment["CRAG_GRADE__CALIBRATION"] = str(calibration.resolve())
    ingest = [*crag, "ingest", str(documents), "--kb", BASE]
    subprocess.run(ingest, env=environment, stdout=sys.stderr, check=True)
    log = (folder / "serve.log").open("w")
    process = subprocess.Popen(
        [*crag, "serve", "--port", str(port)], env=environment, stdout=log, stderr=log
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_ready(address, process)
        yield Served(address, process.pid)
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def _wait_until_ready(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError("the server did not become ready")
