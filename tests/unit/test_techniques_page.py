"""docs/techniques.md lists the techniques of the registry, as they ship, with their figures."""

import re
from pathlib import Path

from eval.techniques import TECHNIQUES, switched_by

PAGE = Path(__file__).parents[2] / "docs" / "techniques.md"
GAIN = re.compile(r"[+-]\d\.\d{3} \[[+-]\d\.\d{3}, [+-]\d\.\d{3}\]")


def rows() -> list[list[str]]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(next(line for line in lines if line.startswith("| technique |"))) + 2
    table = [line for line in lines[start:] if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_page_says_of_each_technique_what_the_registry_says() -> None:
    told = [(name, ships, settings, when) for name, ships, settings, *_, when in rows()]
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
    for technique, (_, _, _, n, *figures, ms, _) in zip(TECHNIQUES, rows(), strict=True):
        if technique.needs:
            assert {n, ms, *figures} == {"-"}, technique.name
        else:
            assert int(n) > 0
            assert all(GAIN.fullmatch(figure) for figure in figures), technique.name
