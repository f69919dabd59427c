"""The benchmark of the state machine still runs, and its runs take the loops that are planned."""

from pathlib import Path

import pytest

from eval.benchmarks.overhead import overheads


@pytest.mark.parametrize("rewrites", [0, 3])
async def test_a_planned_run_is_timed(rewrites: int, tmp_path: Path) -> None:
    assert 0 < (await overheads(rewrites, 1, tmp_path))[0] < 10_000
