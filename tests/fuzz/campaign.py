"""A long run of hostile requests in one process: each operation in its turn, over and over."""

import warnings
from collections import Counter

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.attack import Attack, an_attack
from tests.fuzz.bodies import Operation
from tests.fuzz.hostile import Requests, described, operations, spoiled
from tests.fuzz.request import Request

Told = tuple[Counter[tuple[str, str, int]], Counter[str], dict[str, tuple[float, str]]]
"""Requests by method, route and status; faults by kind; the slowest request of each route."""

BLOCK = 250
"""Requests of one operation before the next one has its turn."""
DESCRIBED = 25
"""Of them by schemathesis, whose generator takes most of the time."""
SHOWN = 3
"""Requests that are printed for one kind of fault."""


def fuzz(requests: int, number: int, job: int) -> Told:
    """Counts by method, route and status; kinds of faults with their number; the slowest."""
    warnings.simplefilter("ignore")
    kinds: Counter[str] = Counter()
    with an_attack() as attack:
        turns, turn = operations(attack.world.openapi), 0
        while attack.sent < requests:
            operation = turns[turn % len(turns)]
            for strategy, size in ((described, DESCRIBED), (spoiled, BLOCK - DESCRIBED)):
                told = f"{number} {job} {turn} {strategy.__name__}"
                if operation[1] in attack.world.openapi["paths"] or strategy is spoiled:
                    _block(attack, strategy(operation, attack.world), size, told, kinds, operation)
            turn += 1
            faults = kinds.total()
            print(f"{job}: {attack.sent} of {requests} sent, {faults} faults", flush=True)
        return attack.counts, kinds, attack.slowest


def _block(
    attack: Attack, requests: Requests, size: int, told: str, kinds: Counter[str], of: Operation
) -> None:
    @seed(told)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(requests)
    def each(request: Request) -> None:
        for fault in attack.faults_of(request):
            kind = f"{' '.join(of)}: {fault[:60]}"
            kinds[kind] += 1
            if kinds[kind] <= SHOWN:
                print(f"{kind}\n  {fault}\n  {request.as_line()}", flush=True)

    each()
