"""`make fuzz`: hostile requests by the hundred thousand, with a seed that repeats them.

A request that failed is printed as one line; `--send LINE` sends it again to a fresh world.
"""

import argparse
import os
import secrets
import sys
import time
import warnings
from collections import Counter
from multiprocessing import get_context

from tests.fuzz.attack import an_attack
from tests.fuzz.campaign import Told, fuzz
from tests.fuzz.request import Request


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--jobs", type=int, default=2, help="Processes, each with its own world.")
    parser.add_argument("--send", metavar="LINE", help="Send one printed request again.")
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("CRAG_")]:
        del os.environ[name]
    warnings.simplefilter("ignore")
    if given.send:
        return _again(Request.from_line(given.send))
    print(f"seed {given.seed}; again with: make fuzz SEED={given.seed}", flush=True)
    share = -(-given.requests // given.jobs)
    began = time.monotonic()
    with get_context("spawn").Pool(given.jobs) as pool:
        parts = pool.starmap(fuzz, [(share, given.seed, job) for job in range(given.jobs)])
    return _report(parts, time.monotonic() - began)


def _report(parts: list[Told], seconds: float) -> int:
    counts = sum((part[0] for part in parts), Counter[tuple[str, str, int]]())
    kinds = sum((part[1] for part in parts), Counter[str]())
    print(f"\n{'requests':>8}  by status and route")
    routes = sorted({(method, route) for method, route, _ in counts}, key=lambda one: one[::-1])
    for method, route in routes:
        found = {s: n for (m, r, s), n in sorted(counts.items()) if (m, r) == (method, route)}
        shown = ", ".join(f"{status} × {number}" for status, number in found.items())
        print(f"{sum(found.values()):>8}  {method} {route}: {shown}")
    slowest = max((one, route) for part in parts for route, one in part[2].items())
    (cpu_s, line), route = slowest
    print(f"slowest, {cpu_s:.2f} s of the processor, {route}: {line[:300]}")
    print(f"{counts.total()} requests in {seconds:.0f} s, {kinds.total()} faults")
    for kind, number in kinds.most_common():
        print(f"{number:>8}  {kind}")
    return 1 if kinds else 0


def _again(request: Request) -> int:
    with an_attack() as attack:
        faults = attack.faults_of(request)
        response = attack.loop.run_until_complete(attack.world.send(request))
    print(response.status, response.headers, response.body.decode("utf-8", "replace"), sep="\n")
    print(*faults, sep="\n", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
