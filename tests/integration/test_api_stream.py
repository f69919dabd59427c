"""POST /v1/ask/stream over a real connection: events, headers, and who leaves ends the run."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api_clients import served, settings_on
from tests.api_fakes import FakeService

SERVICE = FakeService()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(settings_on(tmp_path_factory.mktemp("stream")), SERVICE) as address:
        yield address


def body(question: str) -> dict[str, Any]:
    return {"question": question, "knowledge_base": "handbook"}


def events_of(response: httpx.Response) -> Iterator[tuple[str, dict[str, Any], int]]:
    name, data = "", {}
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = json.loads(value)
        elif field == "id":
            yield name, data, int(value)


def test_streams_every_event_with_its_seq(url: str) -> None:
    with httpx.stream("POST", f"{url}/v1/ask/stream", json=body("why?")) as response:
        events = list(events_of(response))
    assert [name for name, _, _ in events] == ["run", "node", "answer.delta", "answer", "done"]
    assert [seq for _, _, seq in events] == [1, 2, 3, 4, 5]
    assert events[1][1]["node"] == "plan_queries"


def test_the_last_answer_is_what_the_plain_route_returns(url: str) -> None:
    with httpx.stream("POST", f"{url}/v1/ask/stream", json=body("refuse")) as response:
        streamed = {name: data for name, data, _ in events_of(response)}
    plain = httpx.post(f"{url}/v1/ask", json=body("refuse")).json()
    assert streamed["answer"] | {"run_id": ""} == plain | {"run_id": ""}
    assert streamed["answer.delta"] == {"text": plain["answer"], "index": 0}


def test_tells_proxies_to_pass_events_on_at_once(url: str) -> None:
    with httpx.stream("POST", f"{url}/v1/ask/stream", json=body("why?")) as response:
        headers = response.headers
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["x-accel-buffering"] == "no"
    assert "no-transform" in headers["cache-control"]


def test_a_failure_is_an_error_event_without_the_inside(url: str) -> None:
    with httpx.stream("POST", f"{url}/v1/ask/stream", json=body("crash")) as response:
        events = list(events_of(response))
    assert [name for name, _, _ in events][-2:] == ["error", "done"]
    assert events[-2][1]["code"] == "internal"
    assert "secret" not in str(events)


def test_a_silent_run_sends_heartbeats(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.05)
    with httpx.stream("POST", f"{url}/v1/ask/stream", json=body("slow")) as response:
        assert next(line for line in response.iter_lines() if line.startswith(":")) == ": ping"


@pytest.mark.parametrize("route", ["/v1/ask", "/v1/ask/stream"])
def test_a_client_that_leaves_ends_its_run_within_a_second(url: str, route: str) -> None:
    SERVICE.runner.cancelled.clear()
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(url + route, json=body("slow"), timeout=httpx.Timeout(5, read=0.3))
    left = time.monotonic()
    assert SERVICE.runner.cancelled.wait(1)
    assert time.monotonic() - left < 1


def test_a_run_is_cancelled_by_its_id(url: str) -> None:
    with httpx.stream("POST", f"{url}/v1/ask/stream", json=body("slow")) as response:
        events = events_of(response)
        run_id = next(events)[1]["run_id"]
        cancelled = httpx.post(f"{url}/v1/runs/{run_id}/cancel").json()
        rest = list(events)
    assert cancelled == {"run_id": run_id, "state": "cancelled"}
    assert [name for name, _, _ in rest] == ["node", "error", "done"]
    assert rest[1][1]["code"] == "cancelled"


def test_a_reader_that_stands_still_loses_its_run(tmp_path: Path) -> None:
    """Covered where it is decided: a full queue that nobody reads raises Cancelled."""
    import asyncio

    import anyio

    from api.active_runs import ActiveRuns
    from api.errors import Cancelled
    from graph.runner import Ask, Event

    class Endless:
        async def stream(self, ask: Ask) -> Any:
            seq = 0
            while True:
                seq += 1
                yield Event(seq, "run", {"run_id": "r"})

    async def stand_still() -> None:
        runs = ActiveRuns(queue=1, stall_s=0.05)
        async with runs.start(Endless(), Ask("q", "kb")) as run:  # type: ignore[arg-type]
            await asyncio.sleep(0.2)
            with anyio.fail_after(2), pytest.raises(Cancelled):
                async for _ in run.events():
                    pass

    asyncio.run(stand_still())
