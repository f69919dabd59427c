"""`crag models pull` against a hub on loopback, and against none."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.tiny_models import save_cross_encoder, save_encoder

ROOT = Path(__file__).parents[2]
NAME = "tiny/reranker"
REVISION = "a" * 40


@contextmanager
def hub(folder: Path) -> Iterator[str]:
    """The files of a folder as one model of a hub, by the paths that its client asks for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

        def _answer(self, *, body: bool) -> None:
            files = {file.name: file.read_bytes() for file in folder.iterdir()}
            path = self.path.split("?")[0]
            file = path.removeprefix(f"/{NAME}/resolve/{REVISION}/")
            if path.startswith(f"/api/models/{NAME}"):
                listed = [{"type": "file", "path": n, "size": len(b), "oid": _sha(b)}
                          for n, b in files.items()]  # fmt: skip
                siblings = [{"rfilename": name} for name in files]
                info = {"id": NAME, "modelId": NAME, "sha": REVISION, "siblings": siblings}
                self._send(json.dumps(listed if "/tree/" in path else info).encode(), body)
            elif file in files:
                self._send(files[file], body)
            else:
                self.send_response(404)
                self.send_header("X-Error-Code", "RepoNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()

        def _send(self, content: bytes, body: bool) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{_sha(content)}"')
            self.send_header("X-Repo-Commit", REVISION)
            self.end_headers()
            if body:
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _sha(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def pull(endpoint: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the hub's library reads its environment when it is imported."""
    surroundings = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "CRAG_"))}
    return subprocess.run(
        [sys.executable, "-m", "crag", "models", "pull", *(arguments or [NAME])],
        cwd=ROOT,
        env=surroundings
        | {
            "HF_ENDPOINT": endpoint,
            "HF_HOME": str(folder / "hub"),
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
            "CRAG_DATA_DIR": str(folder / "crag"),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("crag: ")]
    assert "Traceback" not in done.stderr
    return line


def test_downloads_into_a_folder_and_prints_what_to_set(tmp_path: Path) -> None:
    model = save_cross_encoder(tmp_path / "model")
    (model / "pytorch_model.bin").write_bytes(b"a pickle that nobody wants")
    with hub(model) as endpoint:
        done = pull(endpoint, tmp_path)
    folder = tmp_path / "crag" / "models" / "tiny--reranker"
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "CRAG_RERANK__KIND=cross_encoder",
        f"CRAG_RERANK__MODEL={folder}",
    ]
    assert REVISION in done.stderr
    weights = folder / "model.safetensors"
    assert weights.read_bytes() == (model / "model.safetensors").read_bytes()
    assert not (folder / "pytorch_model.bin").exists()


def test_a_model_that_does_not_rerank_is_told(tmp_path: Path) -> None:
    with hub(save_encoder(tmp_path / "model")) as endpoint:
        done = pull(endpoint, tmp_path)
    assert (done.returncode, "no cross-encoder" in told(done)) == (2, True)


def test_an_unknown_model_is_told(tmp_path: Path) -> None:
    with hub(save_encoder(tmp_path / "model")) as endpoint:
        done = pull(endpoint, tmp_path, "tiny/other")
    assert (done.returncode, "no model 'tiny/other'" in told(done)) == (2, True)


def test_weights_of_another_backend_are_told(tmp_path: Path) -> None:
    with hub(save_cross_encoder(tmp_path / "model")) as endpoint:
        done = pull(endpoint, tmp_path, NAME, "--backend", "onnx")
    assert (done.returncode, "no weights for onnx" in told(done)) == (2, True)


@pytest.mark.parametrize("there_before", [False, True])
def test_a_hub_that_is_away_is_one_clear_line(tmp_path: Path, there_before: bool) -> None:
    if there_before:
        save_cross_encoder(tmp_path / "crag" / "models" / "BAAI--bge-reranker-base")
    done = pull("http://127.0.0.1:9", tmp_path, "BAAI/bge-reranker-base")
    assert done.returncode == 1
    assert "http://127.0.0.1:9 cannot be reached" in told(done)
    assert "HF_ENDPOINT" in told(done)
    assert done.stdout == ""
