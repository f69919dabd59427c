"""README.md and docs/techniques.md list the registry's techniques with the measured figures."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from eval.techniques import TECHNIQUES, switched_by
from eval.techniques_page import BEGIN, END, RESULTS, newest, pages, short_table, with_table

FILES = sorted(RESULTS.glob("*.json"))
GAIN = re.compile(r"[+-]\d\.\d{3} \[[+-]\d\.\d{3}, [+-]\d\.\d{3}\]")
COSTS = {"added_ms": 12.3, "added_chat_calls": 1.0, "added_usd": 0.0}


def rows(page: str) -> list[list[str]]:
    text = next(text for path, text in pages(FILES).items() if path.name == page)
    lines = text.splitlines()
    start = lines.index(next(line for line in lines if line.startswith("| technique |"))) + 2
    table = [line for line in lines[start : lines.index(END)] if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def measured(folder: Path, name: str, **gains: float) -> Path:
    gain = {m: {"difference": d, "interval": [d - 0.1, d + 0.1]} for m, d in gains.items()}
    row = {"technique": "bm25", "n": 3, "gain": gain} | COSTS
    file = folder / name
    file.write_text(json.dumps({"techniques": [row, row | {"technique": "mmr", "n": 0}]}))
    return file


def test_the_pages_are_what_the_results_say() -> None:
    for page, text in pages(FILES).items():
        assert page.read_text(encoding="utf-8") == text, "run python -m eval.techniques_page"


def test_the_page_says_of_each_technique_what_the_registry_says() -> None:
    told = [(name, ships, settings, when) for name, ships, settings, *_, when in
        rows("techniques.md")]  # fmt: skip
    assert told == [
        (
            technique.name,
            "on" if technique.shipped else "off",
            ", ".join(f"`{name}`" for name in switched_by(technique)) or "a base opts in",
            technique.when,
        )
        for technique in TECHNIQUES
    ]


def test_only_what_needs_something_else_has_no_figures() -> None:
    done = newest(FILES)
    table = rows("techniques.md")
    for technique, (_, _, _, n, *figures, ms, calls, _) in zip(TECHNIQUES, table, strict=True):
        if technique.name in done:
            assert int(n) > 0 and ms != "-" and calls != "-"
            assert all(GAIN.fullmatch(figure) for figure in figures), technique.name
        else:
            assert technique.needs, technique.name
            assert {n, ms, calls, *figures} == {"-"}, technique.name


def test_the_last_file_that_measured_a_technique_counts(tmp_path: Path) -> None:
    files = [
        measured(tmp_path, "2.json", **{"hit@1": 0.5, "nDCG@10": 0.2}),
        measured(tmp_path, "1.json", **{"hit@1": 0.1}),
    ]
    done = newest(files)
    assert done.keys() == {"bm25"}
    (line,) = [line for line in short_table(done) if line.startswith("| bm25 |")]
    assert "| hit@1 +0.500 [+0.400, +0.600] | +12 | +1.0 |" in line
    (line,) = [line for line in short_table({}) if line.startswith("| bm25 |")]
    assert "| - | - | - |" in line


def test_a_ranking_without_answers_is_told_by_its_own_measure() -> None:
    row: Any = {"n": 3, "gain": {"nDCG@10": {"difference": 0.2, "interval": [0.1, 0.3]}}} | COSTS
    (line,) = [line for line in short_table({"correction": row}) if "| correction |" in line]
    assert "| nDCG@10 +0.200 [+0.100, +0.300] |" in line


def test_only_what_is_between_the_marks_is_replaced() -> None:
    text = f"before\n\n{BEGIN}\nold\n{END}\n\nafter\n"
    assert with_table(text, ["| new |"]) == f"before\n\n{BEGIN}\n\n| new |\n\n{END}\n\nafter\n"
    with pytest.raises(ValueError, match="there is no"):
        with_table("no marks", [])
