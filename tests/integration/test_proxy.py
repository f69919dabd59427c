"""The proxy's own file with a real Caddy, before two services."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.api_clients import served, settings_on
from tests.api_fakes import FakeService

CADDYFILE = Path(__file__).parents[2] / "Caddyfile"
ASK = {"question": "slow", "knowledge_base": "handbook"}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def known_to(caddy: str, text: str) -> str:
    """Before 2.7, as Debian has it, buffering had another name."""
    version = subprocess.run([caddy, "version"], capture_output=True, text=True, check=True).stdout
    assert "\t\trequest_buffers 1MiB\n" in text
    old = version.lstrip("v").startswith("2.6.")
    return text.replace("request_buffers 1MiB", "buffer_requests") if old else text


@contextmanager
def proxied(folder: Path, one: str, other: str) -> Iterator[str]:
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("no caddy: install the package")
    port = free_port()
    text = CADDYFILE.read_text().replace(":8080 {", f"http://127.0.0.1:{port} {{")
    behind = " ".join(url.removeprefix("http://") for url in (one, other))
    text, changed = re.subn(r"api-1:8000 api-2:8000", behind, text)
    assert changed == 1
    (folder / "Caddyfile").write_text(known_to(caddy, text))
    command = [caddy, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=home, stdout=log, stderr=log)
    try:
        until_answered(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def until_answered(url: str, within_s: float = 20) -> None:
    """Ten times on end: the proxy knows by then who is ready."""
    deadline = time.monotonic() + within_s
    answered = 0
    while answered < 10:
        try:
            ready = httpx.get(f"{url}/readyz", trust_env=False, timeout=20).status_code == 200
            answered = answered + 1 if ready else 0
        except httpx.TransportError:
            answered = 0
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_two_that_are_ready_share_the_work(tmp_path: Path) -> None:
    services = [FakeService(), FakeService()]
    with ExitStack() as both:
        one, other = (
            both.enter_context(served(settings_on(tmp_path / name), service))
            for name, service in zip("ab", services, strict=True)
        )
        url = both.enter_context(proxied(tmp_path, one, other))
        for _ in range(40):
            response = httpx.post(
                f"{url}/v1/ask", json=ASK | {"question": "q"}, trust_env=False, timeout=20
            )
            assert response.json()["outcome"] == "answered"
        asked = [len(service.runner.asked) for service in services]
        assert sum(asked) == 40 and min(asked) > 0


def test_streams_pass_at_once_and_the_standby_takes_over(tmp_path: Path) -> None:
    settings = settings_on(tmp_path, standby=True)
    with ExitStack() as both, ExitStack() as first:
        one = first.enter_context(served(settings, FakeService()))
        other = both.enter_context(served(settings, FakeService(), wait=False))
        url = both.enter_context(proxied(tmp_path, one, other))
        assert httpx.get(f"{other}/livez", trust_env=False).status_code == 200
        standby = httpx.post(f"{other}/v1/ask", json=ASK, trust_env=False)
        assert (standby.status_code, standby.json()["code"]) == (503, "not_ready")
        began = time.monotonic()
        with httpx.stream("POST", f"{url}/v1/ask/stream", json=ASK, trust_env=False) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: run"
            assert time.monotonic() - began < 10  # the run itself takes 30
        first.close()
        until_answered(url)
        answer = httpx.post(
            f"{url}/v1/ask", json=ASK | {"question": "q"}, trust_env=False, timeout=20
        )
        assert answer.json()["outcome"] == "answered"
