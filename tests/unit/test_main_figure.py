"""The main figure: the blend that it is measured against by hand, its verdict, and what is kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eval.benchmarks import main_figure
from eval.benchmarks.main_figure import POOL, by_rrf, measure, report, three_way
from graph.settings import GraphSettings
from tests.fakes import HashingEmbedder, a_candidate
from tests.integration.test_eval_cli import beir  # noqa: F401


def test_the_three_way_blend_by_hand() -> None:
    """a: (1 + 0 + .5) / 3 = .5, b: (.5 + 1 + .1) / 3 = .53, c: (0 + .5 + 1) / 3 = .5, by id."""
    found = [
        a_candidate("c", dense=0.2, bm25=5.0, late_interaction=1.0),
        a_candidate("a", dense=0.8, bm25=0.0, late_interaction=0.5),
        a_candidate("b", dense=0.5, bm25=10.0, late_interaction=0.1),
        a_candidate("d", dense=0.2, bm25=0.0, late_interaction=0.0),
    ]
    assert [c.chunk.chunk_id for c in three_way(found)] == ["b", "a", "c", "d"]


def test_the_pool_is_the_best_by_both_ranks() -> None:
    """Nothing with a shared word: only the first rank counts then."""
    found = [a_candidate(f"{n:03}", dense=1 - n / 100, bm25=0.0) for n in range(POOL + 10)]
    last = a_candidate("last", dense=-1.0, bm25=3.0)
    pool = [c.chunk.chunk_id for c in by_rrf([*found, last])]
    assert len(pool) == POOL and pool[:2] == ["last", "000"]


def rows(n: int, default: float, blend: float) -> list[Mapping[str, float]]:
    values = {"default": default, "blend": blend}
    return [{f"{k} {m}": v for k, v in values.items() for m in main_figure.MEASURES}] * n


@pytest.mark.parametrize(
    ("sets", "gained", "lost"),
    [
        ({"one": rows(9, 0.9, 0.8), "two": rows(3, 0.8, 0.8)}, True, []),
        ({"one": rows(9, 0.8, 0.8)}, False, []),
        ({"one": rows(40, 0.9, 0.8), "two": rows(3, 0.7, 0.72)}, True, ["two"]),
        ({"one": rows(9, 0.7, 0.8)}, False, ["one"]),
    ],
)
def test_the_verdict(sets: dict[str, Any], gained: bool, lost: list[str]) -> None:
    done = report(sets)
    assert (done["gained"], done["lost"]) == (gained, lost)
    assert done["pooled"]["n"] == sum(map(len, sets.values()))


async def test_both_lines_are_measured_and_what_was_kept_is_not_asked_again(
    beir: Path,  # noqa: F811
    store_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.adapters.embedders.open_embedder", lambda name: HashingEmbedder())
    sets = {"cacm": main_figure.load_beir(beir)}
    settings = GraphSettings(data_dir=store_path / "kept")
    found = await measure(settings, sets, 2, "all-MiniLM-L6-v2")
    assert len(found["cacm"]) == 2
    assert set(found["cacm"][0]) == {
        f"{line} {m}" for line in ("default", "blend") for m in main_figure.MEASURES
    }

    async def never(*_: Any) -> Any:
        raise AssertionError("asked again")

    monkeypatch.setattr(main_figure, "ORDERS", dict.fromkeys(main_figure.LINES, never))
    assert await measure(settings, sets, 2, "all-MiniLM-L6-v2") == found
