"""The soak benchmark's own arithmetic: what counts as an error, and when memory is steady."""

from collections import Counter
from typing import Any

import httpx
import pytest

from eval.benchmarks import soak
from eval.benchmarks.soak import MB, Seen, figures_of, memory_figures


def a_phase(**changed: Any) -> Seen:
    flat = [(float(second), 700 * MB) for second in range(20)]
    seen = {"answered": [1.0] * 9 + [3.0], "livez": [5.0] * 100, "memory": flat, "seconds": 5.0}
    return Seen(**(seen | changed))


def failed(seen: Seen) -> list[str]:
    return [one.name for one in figures_of(seen, 32) if not one.passed]


def test_a_good_phase_passes_and_tells_its_rate() -> None:
    figures = {one.name: one.median for one in figures_of(a_phase(), 32)}
    assert failed(a_phase()) == []
    assert figures["questions answered"] == 2
    assert figures["POST /v1/ask, 32 askers"] == 1
    assert figures["memory, slope"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"errors": Counter({"status 500": 1})}, "errors"),
        ({"livez": [5.0] * 90 + [101.0] * 10}, "/livez p99"),
        ({"memory": [(s, (700 + 3 * s) * MB) for s in range(20)]}, "memory, end over warm-up"),
    ],
)
def test_each_target_can_be_missed(changed: dict[str, Any], name: str) -> None:
    assert failed(a_phase(**changed)) == [name]


def test_what_the_limits_refuse_is_no_error() -> None:
    assert failed(a_phase(refused=3, degraded=1)) == []


def test_memory_that_grows_by_a_megabyte_a_second_has_that_slope() -> None:
    figures = memory_figures([(s / 2, int((700 + s / 2) * MB)) for s in range(40)])
    slopes = [one.median for one in figures if one.name == "memory, slope"]
    assert slopes == [pytest.approx(60, rel=1e-3)]


async def test_each_answer_is_counted_as_what_it_is() -> None:
    replies = iter(
        [
            httpx.Response(200, json={"degraded": []}),
            httpx.Response(200, json={"degraded": [{"node": "rerank"}]}),
            httpx.Response(429, headers={"retry-after": "0"}),
            httpx.Response(503),
            httpx.ConnectError("gone"),
        ]
    )

    def reply(request: httpx.Request) -> httpx.Response:
        one = next(replies)
        if isinstance(one, Exception):
            raise one
        return one

    seen = Seen()
    transport = httpx.MockTransport(reply)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        for _ in range(5):
            await soak.ask(client, "why?", seen)
    assert (len(seen.answered), seen.degraded, seen.refused) == (2, 1, 1)
    assert seen.errors == {"status 503": 1, "ConnectError": 1}
