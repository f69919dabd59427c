"""What every benchmark prints: the machine, the parts, each figure with its spread and target."""

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("langgraph", "qdrant-edge-py", "sentence-transformers", "torch")


@dataclass(frozen=True)
class Figure:
    """The median of `n` measurements, with their 10th and 90th percentiles.

    `at_most` and `at_least` are targets; with neither it is only reported.
    """

    name: str
    median: float
    unit: str
    n: int
    p10: float
    p90: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def passed(self) -> bool:
        low = self.at_least is None or self.median >= self.at_least
        return low and (self.at_most is None or self.median <= self.at_most)


def figure(
    name: str,
    values: Sequence[float],
    unit: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Figure:
    """Raises ValueError without values."""
    if not len(values):
        raise ValueError(f"{name}: nothing was measured")
    p10, median, p90 = (round(float(p), 4) for p in np.percentile(values, [10, 50, 90]))
    return Figure(name, median, unit, len(values), p10, p90, at_most, at_least)


def finish(
    benchmark: str, figures: Sequence[Figure], parts: Mapping[str, Any], *, as_json: bool
) -> None:
    """Prints the report and ends the process: 0 where every target is met, else 1."""
    where, passed = machine(), all(one.passed for one in figures)
    if as_json:
        shown = [asdict(one) | {"passed": one.passed} for one in figures]
        report = {"benchmark": benchmark, "machine": where, "parts": {**parts, **versions()}}
        print(json.dumps(report | {"figures": shown, "passed": passed}, indent=2))
    else:
        print(f"{benchmark}  on {where['cores']} x {where['cpu']}, Python {where['python']}")
        print("parts: " + ", ".join(f"{k} {v}" for k, v in {**parts, **versions()}.items()))
        print("\n".join(_line(one) for one in figures))
    sys.exit(0 if passed else 1)


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "cpu": _cpu(),
        "python": platform.python_version(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}


def _line(one: Figure) -> str:
    target = "" if one.at_most is None else f"<= {one.at_most:g}"
    target = target if one.at_least is None else f">= {one.at_least:g}"
    verdict = f"target {target}: {'pass' if one.passed else 'FAIL'}" if target else ""
    spread = f"p10 {one.p10:g}, p90 {one.p90:g}, n {one.n}"
    return f"  {one.name:44} {one.median:9g} {one.unit:12} ({spread}) {verdict}".rstrip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
