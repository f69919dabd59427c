"""Chunk sizes, overlaps, headings, headers, neighbours and small-to-big, on Chroma's evaluation.

Each way to cut the corpora has an index of its own below --data-dir, embedded once and kept: what
was cut short goes on with the corpus that it was at, from its beginning. The questions are searched
as a run searches first: exact, both arms, the shipped reranker. Measures (eval/chunking.py) are
means over questions with 95 % bootstrap intervals; each gain is paired, over the shipped way.
Choose with --side tune; the other side is for the end, once.

python -m eval.benchmarks.chunking --data DIR [--side tune|report] [--corpora "A;B"]
    [--cuts "A;B"] [--data-dir .crag-eval/chunking] [--json]
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from eval.chunking import MEASURES, Cut, Handed, ensure_cut, load_corpora, values
from eval.datasets import Side, load_excerpts
from eval.runner import deterministic
from eval.statistics import bootstrap_interval
from graph.compose import open_graph
from graph.settings import GraphSettings
from ingest.settings import SplitSettings

CORPORA = ("state_of_the_union", "wikitexts", "chatlogs", "finance", "pubmed")
SHIPPED = Cut("210/40")
SMALL = Cut("64/0", 64, 0)
CUTS = (
    SHIPPED,
    Cut("210/0", 210, 0),
    Cut("120/0", 120, 0),
    SMALL,
    Cut("210/40, headings ignored", headings=False),
    Cut("210/40, no header", header=False),
)
WAYS = (
    *(Handed(cut) for cut in CUTS),
    Handed(SHIPPED, keep=3),
    Handed(SHIPPED, around=600),
    Handed(SHIPPED, parent=4_000),
    Handed(SMALL, keep=15),
    Handed(SMALL, around=300),
    Handed(SMALL, parent=1_000),
    Handed(SMALL, parent=4_000),
)


async def measure(
    settings: GraphSettings, folder: Path, corpora: Sequence[str], cuts: Sequence[Cut], side: Side
) -> dict[str, Any]:
    texts = load_corpora(folder, corpora)
    questions = [q for q in load_excerpts(folder, side=side) if q.quotes[0][0] in texts]
    rows: dict[str, list[dict[str, float]]] = {}
    passages: dict[str, int] = {}
    for cut in cuts:
        split = SplitSettings(max_tokens=cut.max_tokens, overlap_tokens=cut.overlap_tokens)
        place = settings.data_dir / cut.name.replace("/", "-").replace(", ", "-").replace(" ", "-")
        own = deterministic(settings.model_copy(update={"split": split, "data_dir": place}))
        async with open_graph(own) as service:
            passages[cut.name] = await ensure_cut(service.corpus, texts, cut)
            ways = [way for way in WAYS if way.cut == cut]
            rows |= await values(service, texts, questions, ways)
            print(f"{cut.name}: {len(questions)} questions", file=sys.stderr, flush=True)
    return {
        "side": side,
        "corpora": list(corpora),
        "n": len(questions),
        "passages": passages,
        "ways": [_way(name, own, rows[Handed(SHIPPED).name]) for name, own in rows.items()],
    }


def _way(
    name: str, own: Sequence[Mapping[str, float]], shipped: Sequence[Mapping[str, float]]
) -> dict[str, Any]:
    of = {m: [row[m] for row in own] for m in MEASURES}
    gains = {m: [a - b[m] for a, b in zip(of[m], shipped, strict=True)] for m in MEASURES}
    return {
        "name": name,
        "code points": round(float(np.mean([row["code points"] for row in own]))),
        "metrics": {m: _figure(of[m]) for m in MEASURES},
        "gain": {m: _figure(gains[m]) for m in MEASURES},
    }


def _figure(numbers: Sequence[float]) -> list[float]:
    """Mean and the ends of its interval."""
    return [round(x, 4) for x in (float(np.mean(numbers)), *bootstrap_interval(numbers))]


def table(report: Mapping[str, Any]) -> list[str]:
    shown = [f"{m}, gain" for m in MEASURES]
    lines = [
        f"{report['side']} side, {report['n']} questions on {', '.join(report['corpora'])}",
        "",
        f"| cut and handed over | code points | {' | '.join(shown)} |",
        "|---" * (2 + len(MEASURES)) + "|",
    ]
    for way in report["ways"]:
        cells = [_cell(way["metrics"][m], way["gain"][m]) for m in MEASURES]
        lines.append(f"| {way['name']} | {way['code points']} | {' | '.join(cells)} |")
    return lines


def _cell(metric: Sequence[float], gain: Sequence[float]) -> str:
    own = f"{metric[0]:.3f} [{metric[1]:.3f}, {metric[2]:.3f}]"
    return own if not any(gain) else f"{own}, {gain[0]:+.3f} [{gain[1]:+.3f}, {gain[2]:+.3f}]"


def _named(given: str | None, known: Sequence[str], what: str) -> list[str]:
    chosen = given.split(";") if given else list(known)
    for name in chosen:
        if name not in known:
            raise SystemExit(f"unknown {what} {name!r}; known: {'; '.join(known)}")
    return chosen


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="Holds corpora/ and questions.")
    options.add_argument("--side", choices=("tune", "report"), default="tune")
    options.add_argument("--corpora", help="Names with ; between; all where none is named.")
    options.add_argument("--cuts", help="Names with ; between; the shipped one is always in.")
    options.add_argument("--data-dir", type=Path, default=Path(".crag-eval/chunking"))
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    corpora = _named(given.corpora, CORPORA, "corpus")
    names = {SHIPPED.name, *_named(given.cuts, [cut.name for cut in CUTS], "cut")}
    cuts = [cut for cut in CUTS if cut.name in names]
    settings = GraphSettings(data_dir=given.data_dir)
    found = asyncio.run(measure(settings, given.data, corpora, cuts, cast(Side, given.side)))
    print(json.dumps(found, indent=2) if given.json else "\n".join(table(found)))


if __name__ == "__main__":
    main()
