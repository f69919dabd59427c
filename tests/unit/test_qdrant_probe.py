"""What `crag doctor` finds at CRAG_QDRANT__URL."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from api.doctor import examine, report_lines
from api.settings import Settings
from ingest.adapters.qdrant_probe import probe
from ingest.errors import ConfigurationError, DependencyError
from ingest.settings import QdrantSettings

Answer = Callable[[str, str | None], tuple[int, object]]
"""(path, api key) → status and body."""


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answer(self.path, self.headers.get("api-key"))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def a_qdrant(version: str = "1.19.1", key: str | None = None) -> Answer:
    def answer(path: str, given: str | None) -> tuple[int, object]:
        if path == "/":
            return 200, {"title": "qdrant", "version": version}
        return (200, {}) if given == key else (401, "Must provide an API key")

    return answer


def test_the_version_is_told() -> None:
    with answering(a_qdrant(key="k")) as url:
        assert probe(QdrantSettings.model_validate({"url": url, "api_key": "k"})) == "1.19.1"


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (a_qdrant(key="k"), DependencyError, "401; check CRAG_QDRANT__API_KEY"),
        (a_qdrant("1.15.4"), ConfigurationError, "1.15.4; 1.16 is needed"),
        (lambda path, key: (200, {"hello": 1}), DependencyError, "is no Qdrant"),
        (lambda path, key: (502, ""), DependencyError, "answers 502"),
    ],
)
def test_what_is_wrong_is_told(answer: Answer, error: type[Exception], says: str) -> None:
    with answering(answer) as url, pytest.raises(error, match=says):
        probe(QdrantSettings(url=url))


def test_the_doctor_names_the_store(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path))
    assert "Store        Qdrant Edge, embedded" in "\n".join(report_lines(examine(Settings())))
    with answering(a_qdrant()) as url:
        monkeypatch.setenv("CRAG_QDRANT__URL", url)
        report = examine(Settings())
    assert f"Store        Qdrant 1.19.1 at {url}" in report_lines(report)
    report = examine(Settings())
    assert report["qdrant"] == {"url": url, "version": None}
    assert any("cannot be reached" in problem for problem in report["problems"])


def test_a_key_over_plain_http_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_QDRANT__URL", "http://qdrant.invalid:6333")
    monkeypatch.setenv("CRAG_QDRANT__API_KEY", "hush")
    report = examine(Settings())
    assert any("unencrypted" in problem for problem in report["problems"])
    assert "hush" not in json.dumps(report)
