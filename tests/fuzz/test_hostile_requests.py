"""Two thousand hostile requests, a hundred for each route; `make fuzz` sends as many as one likes.

A route that is new is attacked from its description at once, and fails here until it was met in
earnest: until it gave a success.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, Phase, given, settings

from api.app import create_app
from tests.api_clients import settings_on
from tests.api_fakes import FakeService
from tests.fuzz.attack import Attack, an_attack
from tests.fuzz.bodies import Operation
from tests.fuzz.hostile import OUTSIDE, Requests, described, operations, spoiled
from tests.fuzz.request import Request

DESCRIBED, SPOILED = 16, 84
OPENAPI = create_app(settings_on(Path("unused")), open_service=FakeService()).openapi()


@pytest.fixture(scope="module")
def attack() -> Iterator[Attack]:
    with an_attack() as opened:
        yield opened


def assault(attack: Attack, requests: Requests, number: int) -> None:
    @settings(
        max_examples=number,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(requests)
    def each(request: Request) -> None:
        faults = attack.faults_of(request)
        assert not faults, f"{faults}\npython -m tests.fuzz --send '{request.as_line()}'"

    each()


@pytest.mark.timeout(600)  # a failing request is made smaller before it is shown
@pytest.mark.parametrize("operation", operations(OPENAPI), ids=" ".join)
def test_hostile_requests_break_nothing(attack: Attack, operation: Operation) -> None:
    before = attack.counts.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of schemathesis, about formats that are not used here
        if operation[1] not in OUTSIDE:
            assault(attack, described(operation, attack.world), DESCRIBED)
        assault(attack, spoiled(operation, attack.world), SPOILED + DESCRIBED)
    met = attack.counts - before
    assert any((m, route) == operation and 200 <= status < 300 for m, route, status in met), met


def test_every_route_is_attacked() -> None:
    app = create_app(settings_on(Path("unused")), open_service=FakeService())
    served = {
        (method, str(route.path))
        for route in iter_route_contexts(app.routes)
        for method in (route.methods or ["GET"])
    }
    assert served - {("HEAD", path) for path in OUTSIDE} == set(operations(OPENAPI))
