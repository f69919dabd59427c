"""The tables of techniques in README.md and docs/techniques.md, from what ablations measured.

crag eval ablation --golden FILE … --json > eval/ablations/NAME.json
python -m eval.techniques_page

Each technique has the figures of the last file that measured it, by name of the file.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.techniques import TECHNIQUES, Technique, switched_by

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "eval" / "ablations"
BEGIN, END = "<!-- techniques: made by python -m eval.techniques_page -->", "<!-- /techniques -->"
PAGE_METRICS = ("correctness", "answered_wrong", "hit@1")
TOLD = {"search": ("hit@1",), "run": ("correctness", "answered_wrong")}
"""What README.md says of a technique, by where it shows."""
INSTEAD = "nDCG@10"
"""Of a ranking without answers."""

Row = Mapping[str, Any]
"""One technique of a results file."""


def newest(files: Sequence[Path]) -> dict[str, Row]:
    """The row of each technique that was measured."""
    rows: dict[str, Row] = {}
    for file in sorted(files):
        measured = json.loads(file.read_text(encoding="utf-8"))["techniques"]
        rows |= {row["technique"]: row for row in measured if row["n"]}
    return rows


def sources(files: Sequence[Path]) -> list[str]:
    """What each file measured, as a line."""
    lines = []
    for file in sorted(files):
        done = json.loads(file.read_text(encoding="utf-8"))
        chat = done["chat"] or "no chat model"
        lines.append(
            f"- {done['date']}: {done['dataset']}, {done['n']} questions, "
            f"{done['embedder'].partition('@')[0]}, {chat}: {len(done['techniques'])} techniques"
        )
    return lines


def short_table(rows: Mapping[str, Row]) -> list[str]:
    """For README.md: one gain, and one clause on when to use it."""
    lines = _head("technique", "ships", "switch", "gain", "added ms", "calls", "when to use it")
    for technique in TECHNIQUES:
        row = rows.get(technique.name)
        told = TOLD[technique.changes]
        names = told if row is None or told[0] in row["gain"] else (INSTEAD,)
        gains = ", ".join(f"{name} {_gain(row, name)}" for name in names) if row else "-"
        when = technique.when.partition(";")[0].removesuffix(".")
        lines.append(_line(technique, gains, *_costs(row), when))
    return lines


def long_table(rows: Mapping[str, Row]) -> list[str]:
    """For docs/techniques.md: every metric, and the whole sentence."""
    head = ("technique", "ships", "switch", "n", *PAGE_METRICS, "added ms", "calls")
    lines = _head(*head, "when to use it")
    for technique in TECHNIQUES:
        row = rows.get(technique.name)
        gains = [_gain(row, name) for name in PAGE_METRICS]
        n = str(row["n"]) if row else "-"
        lines.append(_line(technique, n, *gains, *_costs(row), technique.when))
    return lines


def with_table(text: str, lines: Sequence[str]) -> str:
    """Raises ValueError for a text without the two marks."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"there is no {BEGIN} … {END}")
    return "\n".join([before + BEGIN, "", *lines, "", END]) + after


def pages(files: Sequence[Path]) -> dict[Path, str]:
    """The files with tables, as they should read."""
    rows = newest(files)
    tables = {
        ROOT / "README.md": short_table(rows),
        ROOT / "docs" / "techniques.md": [*long_table(rows), "", *sources(files)],
    }
    return {
        page: with_table(page.read_text(encoding="utf-8"), lines) for page, lines in tables.items()
    }


def _head(*names: str) -> list[str]:
    return ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]


def _line(technique: Technique, *cells: str) -> str:
    switch = ", ".join(f"`{name}`" for name in switched_by(technique)) or "a base opts in"
    ships = "on" if technique.shipped else "off"
    return "| " + " | ".join([technique.name, ships, switch, *cells]) + " |"


def _gain(row: Row | None, name: str) -> str:
    gain = row["gain"].get(name) if row else None
    if gain is None:
        return "-"
    low, high = gain["interval"]
    return f"{gain['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"


def _costs(row: Row | None) -> tuple[str, str]:
    if row is None:
        return "-", "-"
    return f"{row['added_ms']:+.0f}", f"{row['added_chat_calls'] or 0:+.1f}"


def main() -> None:
    for page, text in pages(sorted(RESULTS.glob("*.json"))).items():
        page.write_text(text, encoding="utf-8")
        print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
