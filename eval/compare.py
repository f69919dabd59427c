"""Two runs, metric by metric and question by question: `crag eval compare`, and `accept`."""

from dataclasses import asdict
from typing import Any

from eval.changes import Change, changes, turned
from eval.policy import COSTS
from eval.results import Origin, Results, Rows

SHOWN = ("correctness", "answered_wrong", "refusal_correctness", "citation_validity", "RR", "P@5",
    "nDCG@10")  # fmt: skip
"""What a terminal shows of metrics that did not move; all others only where they did."""


def compare(before: Rows, results: Results, *, origin: Origin) -> dict[str, Any]:
    """The later run against the values of an earlier one, whose golden set and index `origin`
    names. Over the questions of both; `only` counts the others."""
    was, now = before["metrics"], results.rows["metrics"]
    sections = {
        section: changes(before[section], rows)
        for section, rows in results.rows.items()
        if section in before
    }
    lost, won = turned(was, now, results.questions)
    return {
        "n": len(was.keys() & now.keys()),
        "only": {"before": len(was.keys() - now.keys()), "after": len(now.keys() - was.keys())},
        "notes": _notes(origin, results),
        "changes": {
            section: {name: asdict(change) for name, change in found.items()}
            for section, found in sections.items()
        },
        "lost": [asdict(one) for one in lost],
        "won": [asdict(one) for one in won],
    }


def _notes(origin: Origin, results: Results) -> list[str]:
    later = results.origin
    notes = results.problems()[:1]
    if origin.golden.sha256 != later.golden.sha256:
        notes.append("the golden sets differ: a label that moved looks like a change of quality")
    if origin.index_version != later.index_version:
        notes.append(f"the index was {origin.index_version}, it is {later.index_version}")
    return notes


def lines(compared: dict[str, Any]) -> list[str]:
    """For a terminal: metrics that moved with the main ones, then the questions that turned."""
    only = compared["only"]
    found = [f"{compared['n']} questions in both; {only['before']} only before, {only['after']} "
        "only after"]  # fmt: skip
    found += [f"  note: {note}" for note in compared["notes"]]
    found.append(f"  {'':34}{'before':>9}{'after':>9}{'difference':>12}  95 % interval")
    for section, metrics in compared["changes"].items():
        for name, change in metrics.items():
            shown = section == "metrics" and name in SHOWN
            if shown or (change["difference"] and name not in COSTS):
                found.append(_line(f"{section}: {name}", Change(**change)))
    for title, key in (("no longer right", "lost"), ("now right", "won")):
        if compared[key]:
            found.append(f"{title} ({len(compared[key])}):")
            found += [f"  {x['id']}  {x['question']}  -> {x['outcome']}" for x in compared[key]]
    return found


def _line(name: str, change: Change) -> str:
    low, high = change.interval
    return (
        f"  {name:34}{change.before:9.4f}{change.after:9.4f}{change.difference:+12.4f}"
        f"  [{low:+.4f}, {high:+.4f}]"
    )
