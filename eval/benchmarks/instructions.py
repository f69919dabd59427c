"""How many published injections are found, and how often is plain text taken for one?

Recall over BIPIA's attacks and deepset's injections (one is found where any of its sentences counts
as an order); false alarms over the sentences of public documents and of the example handbook.

python -m eval.benchmarks.instructions --data DATA [--side tune|report] [--json]
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from eval.benchmarks.report import Figure, finish
from eval.datasets import Side, load_beir, on_side
from eval.labelled_rows import numbered_lines
from eval.statistics import wilson_interval
from ingest.loaders import load
from ingest.sentences import sentence_spans
from nodes.instructions import instruction_spans

INJECTIONS = {"bipia": ("attacks.jsonl", "attack"), "deepset_injections": ("rows.jsonl", "text")}
PLAIN = ("xquad-en", "xquad-de", "xquad-es", "multihop", "mtrag", "cacm", "scifact")


def found(texts: Iterable[str]) -> tuple[int, int]:
    """(texts with an order, texts)"""
    flags = [bool(instruction_spans(text)) for text in texts]
    return sum(flags), len(flags)


def alarms(texts: Iterable[str]) -> tuple[int, int]:
    """(sentences that count as orders, sentences)"""
    pairs = [(len(instruction_spans(text)), len(sentence_spans(text))) for text in texts]
    return sum(hits for hits, _ in pairs), sum(n for _, n in pairs)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="The folder of public sets.")
    options.add_argument("--side", choices=("tune", "report"), default="tune")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    figures = [
        _share(f"recall, {name}", *found(_injections(given.data / name / file, field, given.side)))
        for name, (file, field) in INJECTIONS.items()
    ]
    plain = [alarms(_documents(given.data / "beir" / name, given.side)) for name in PLAIN]
    figures.append(_share("false alarms, public", *map(sum, zip(*plain, strict=True))))
    handbook = [load(file).text for file in sorted(Path("examples/handbook").rglob("*.*"))]
    figures.append(_share("false alarms, handbook", *alarms(handbook)))
    parts = {"side": given.side, "spread": "p10 and p90 stand for the ends of the 95 % interval"}
    finish("instructions", figures, parts, as_json=given.json)


def _injections(file: Path, field: str, side: Side) -> list[str]:
    rows = [json.loads(line) for _, line in numbered_lines(file)]
    return [row[field] for row in rows if on_side(row["id"], side)]


def _documents(folder: Path, side: Side) -> list[str]:
    return [text for name, _, text in load_beir(folder).documents if on_side(name, side)]


def _share(name: str, hits: int, n: int) -> Figure:
    low, high = wilson_interval(hits, n)
    return Figure(name, round(hits / n, 6), "", n, round(low, 6), round(high, 6))


if __name__ == "__main__":
    main()
