"""A stream that waits for its place: alive meanwhile, and over when its time is or its reader's."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.audit import open_audit
from api.settings import LimitSettings
from tests.api_clients import served, settings_on
from tests.api_fakes import FakeService

STREAM = "/v1/ask/stream"
SLOW = {"question": "slow", "knowledge_base": "handbook"}
ASK = {"question": "why?", "knowledge_base": "handbook"}


class OneRuns:
    """A server with one place, taken by a run that goes on until it is cancelled."""

    def __init__(self, client: httpx.Client, running: httpx.Response) -> None:
        self.client = client
        self._events = events_of(running)  # kept: without it the client leaves
        self._run_id = next(self._events)[1]["run_id"]

    def end(self) -> None:
        self.client.post(f"/v1/runs/{self._run_id}/cancel").raise_for_status()

    def waiting(self, question: dict[str, str] = ASK) -> Any:
        return self.client.stream("POST", STREAM, json=question)


@contextmanager
def one_runs(folder: Path, service: FakeService, **limits: Any) -> Iterator[OneRuns]:
    settings = settings_on(folder)
    settings = settings.model_copy(update={"limits": LimitSettings(running=1, **limits)})
    with (
        served(settings, service) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=20) as client,
        client.stream("POST", STREAM, json=SLOW) as running,
    ):
        yield OneRuns(client, running)


def events_of(response: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def outcomes(folder: Path) -> list[str]:
    log = open_audit(settings_on(folder))
    rows = [row.outcome for row in log.recent() if row.action == "ask_stream"]
    log.close()
    return rows


def waits_within_s(seconds: float, server: OneRuns) -> bool:
    """Whether a question gets to wait: where there is no room a 429 comes at once."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            assert server.client.post("/v1/ask", json=ASK, timeout=1).status_code == 429
        except httpx.ReadTimeout:
            return True
    return False


def test_it_sends_heartbeats_and_then_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.05)
    service = FakeService()
    with one_runs(tmp_path, service) as server, server.waiting() as stream:
        lines = stream.iter_lines()
        assert [next(lines) for _ in range(4)] == [": ping", ""] * 2
        assert [ask.question for ask in service.runner.asked] == ["slow"]
        server.end()
        events = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert stream.status_code == 200
    assert events == ["run", "node", "answer.delta", "answer", "done"]


def test_a_wait_that_ends_with_its_time_is_an_error_event(tmp_path: Path) -> None:
    with one_runs(tmp_path, FakeService(), wait_s=0.2) as server, server.waiting() as stream:
        events = list(events_of(stream))
    assert [name for name, _ in events] == ["error", "done"]
    problem = events[0][1]
    assert (problem["code"], problem["status"]) == ("rate_limited", 429)
    assert problem["retry_after_s"] == 5
    assert events[1][1] == {"run_id": None}
    assert sorted(outcomes(tmp_path)) == ["cancelled", "rate_limited"]


def test_what_the_run_refuses_after_its_wait_is_an_error_event(tmp_path: Path) -> None:
    unknown = ASK | {"knowledge_base": "nope"}
    with one_runs(tmp_path, FakeService()) as server, server.waiting(unknown) as stream:
        server.end()
        events = list(events_of(stream))
    assert [name for name, _ in events] == ["error", "done"]
    assert events[0][1]["code"] == "unknown_knowledge_base"


def test_a_reader_that_leaves_gives_its_turn_to_the_next(tmp_path: Path) -> None:
    service = FakeService()
    with one_runs(tmp_path, service, waiting=1) as server:
        with server.waiting():
            assert server.client.post("/v1/ask", json=ASK).status_code == 429
        assert waits_within_s(5, server)
        assert [ask.question for ask in service.runner.asked] == ["slow"]
    assert outcomes(tmp_path) == ["cancelled"] * 2


def test_what_is_refused_at_once_has_its_status(tmp_path: Path) -> None:
    with one_runs(tmp_path, FakeService(), waiting=0) as server, server.waiting() as stream:
        assert (stream.status_code, stream.headers["retry-after"]) == (429, "5")
