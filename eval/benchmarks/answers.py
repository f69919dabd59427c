"""Whole runs over golden questions, with and without the correction: right, wrong and refused.

python -m eval.benchmarks.answers --golden FILE --documents DIR [--side all|tune|report] [--json]
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from eval.answers import Judged, judged
from eval.benchmarks.report import Figure, finish
from eval.corpora import golden_base, ingest_golden
from eval.datasets import Question, Side, load_golden
from eval.statistics import bootstrap_interval
from graph.compose import open_graph
from graph.runner import Ask, Runner
from graph.settings import BudgetSettings, GraphSettings

LOOPS = (0, 3)


async def verdicts(
    runner: Runner, base: str, questions: Sequence[Question], rewrites: int
) -> list[Judged]:
    """One for each question, in order."""
    options = {"rewrites": rewrites, "exact": True, "cache": False}
    return [judged(q, await runner.ask(Ask(q.text, base, options=options))) for q in questions]


async def measure(
    settings: GraphSettings, golden: Path, documents: Path, side: Side
) -> list[Figure]:
    questions, base = load_golden(golden, side=side), golden_base(documents)
    async with open_graph(settings) as service:
        await ingest_golden(service.corpus, documents, base)
        found = {n: await verdicts(service.runner, base, questions, n) for n in LOOPS}
    figures = []
    for loops, judgements in found.items():
        answerable = [
            judgement for q, judgement in zip(questions, judgements, strict=True) if q.answerable
        ]
        refused = [judgement for judgement in judgements if "refused" in judgement]
        name = f"{loops} loops:"
        figures += [
            _share(f"{name} right, of the answerable", [j == "right" for j in answerable]),
            _share(f"{name} answered wrong, of all", [j == "wrong" for j in judgements]),
            _share(f"{name} refusal right, of refused", [j.startswith("rightly") for j in refused]),
        ]
    corrected = [
        before == "wrongly refused" and after == "right"
        for before, after in zip(found[0], found[3], strict=True)
    ]
    return [*figures, _share("refused without loops, right with them", corrected)]


def _share(name: str, values: Sequence[bool]) -> Figure:
    shares = [float(value) for value in values]
    low, high = bootstrap_interval(shares) if shares else (0.0, 0.0)
    mean = sum(shares) / len(shares) if shares else 0.0
    return Figure(name, round(mean, 4), "", len(shares), round(low, 4), round(high, 4))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--golden", type=Path, required=True)
    options.add_argument("--documents", type=Path, required=True)
    options.add_argument("--side", choices=("all", "tune", "report"), default="all")
    options.add_argument("--data-dir", type=Path, default=Path(".crag-eval"))
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    settings = GraphSettings(data_dir=given.data_dir, budget=BudgetSettings(deadline_s=None))
    side = cast(Side, given.side)
    figures = asyncio.run(measure(settings, given.golden, given.documents, side))
    parts: dict[str, Any] = {"golden": given.golden.name, "side": side}
    parts["spread"] = "p10 and p90 stand for the ends of the 95 % interval"
    finish("answers", figures, parts, as_json=given.json)


if __name__ == "__main__":
    main()
