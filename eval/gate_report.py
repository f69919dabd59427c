"""What a person, or a build, reads of a verdict: lines, Markdown for its page, and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from eval.changes import Turned
from eval.gate import Check, Verdict
from eval.report import table

TITLES = {
    "pass": "passed",
    "regression": "failed: quality fell",
    "incomplete": "not judged: the run is incomplete",
    "stale_labels": "not judged: labels are stale",
}
SHOWN = 20
"""Problems and questions that are listed by name."""


def lines(verdict: Verdict) -> list[str]:
    """For a terminal: the verdict and only what stands against it."""
    held = sum(check.state == "pass" for check in verdict.checks)
    counted = f"; {held} of {len(verdict.checks)} thresholds hold" if verdict.checks else ""
    found = [f"gate {TITLES[verdict.state]}{counted}"]
    found += [f"  {line}" for line in _first(verdict.problems)]
    found += [
        f"  {check.state}: {check.threshold.name}: {check.said}"
        for check in verdict.checks
        if check.state != "pass"
    ]
    if verdict.lost:
        found.append(f"  no longer right: {', '.join(one.id for one in verdict.lost)}")
    if verdict.won:
        found.append(f"  now right: {', '.join(one.id for one in verdict.won)}")
    return [*found, *(f"  note: {note}" for note in verdict.notes)]


def markdown(verdict: Verdict) -> str:
    """For the page of a build: verdict, problems, thresholds, questions that turned."""
    parts = [f"## Quality gate {TITLES[verdict.state]}"]
    if verdict.problems:
        parts.append("\n".join(f"- {_cell(line)}" for line in _first(verdict.problems)))
    if verdict.checks:
        header = [
            "metric", "value", "baseline", "difference", "threshold", "verdict",
        ]  # fmt: skip
        # What failed comes first.
        order = sorted(verdict.checks, key=lambda check: check.state == "pass")
        parts.append(table(header, [_row(check) for check in order]))
        parts.append(
            "Differences are to the baseline (of `gain`, to the naive line), with their 95 % "
            "bootstrap intervals, paired by question: one that holds 0 may be noise."
        )
    parts += _questions("No longer right", verdict.lost)
    parts += _questions("Now right", verdict.won)
    if verdict.notes:
        parts.append("\n".join(f"- Note: {_cell(note)}" for note in verdict.notes))
    return "\n\n".join(parts) + "\n"


def as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.state,
        "exit_code": verdict.exit_code,
        "problems": verdict.problems,
        "notes": verdict.notes,
        "checks": [
            {**asdict(check.threshold), **asdict(check), "threshold": check.threshold.name}
            for check in verdict.checks
        ],
        "lost": [asdict(one) for one in verdict.lost],
        "won": [asdict(one) for one in verdict.won],
    }


def _row(check: Check) -> list[str]:
    threshold = check.threshold
    difference = ""
    if check.difference is not None and check.interval is not None:
        low, high = check.interval
        difference = f"{check.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
    verdict = check.state if check.state == "pass" else f"**{check.state}**"
    return [
        f"{threshold.section}: {threshold.metric}",
        _number(check.value),
        _number(check.baseline),
        difference,
        f"{threshold.kind} {threshold.limit:g}",
        verdict + (f": {check.said}" if check.state == "incomplete" else ""),
    ]


def _questions(title: str, questions: Sequence[Turned]) -> list[str]:
    if not questions:
        return []
    rows = [[one.id, _cell(one.question), one.outcome] for one in questions[:SHOWN]]
    more = len(questions) - SHOWN
    found = [f"### {title} ({len(questions)})", table(["id", "question", "now"], rows)]
    return [*found, f"and {more} more"] if more > 0 else found


def _first(problems: Sequence[str]) -> list[str]:
    more = len(problems) - SHOWN
    return [*problems[:SHOWN], f"and {more} more"] if more > 0 else list(problems)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _cell(text: str) -> str:
    """Text of others inside a table: no cell ends, and no mark-up begins, in it."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return plain.replace("|", "\\|").replace("`", "\\`")
