"""The regression gate: a run is held against a policy and a baseline, and passes or does not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from eval.baseline import Baseline
from eval.changes import Change, Turned, changes, turned
from eval.comparable import notes, same_questions
from eval.metrics import Row, means, paired_differences, question_rows
from eval.policy import LESS_IS_BETTER, Threshold, nearest
from eval.results import Results
from ingest.errors import ConfigurationError

State = Literal["pass", "regression", "incomplete", "stale_labels"]
EXIT_CODES: dict[State, int] = {"pass": 0, "regression": 1, "stale_labels": 3, "incomplete": 4}
"""2 is a configuration error: it is raised."""

TOLERANCE = 1e-6
"""Both sides of a comparison are rounded to six decimals."""


@dataclass(frozen=True)
class Check:
    """A threshold and what was found. `difference` is to the baseline, for gain to the naive line;
    None where there is nothing to compare with."""

    threshold: Threshold
    state: State
    value: float | None = None
    baseline: float | None = None
    difference: float | None = None
    interval: tuple[float, float] | None = None
    said: str = ""


@dataclass(frozen=True)
class Verdict:
    """`problems` make a run incomplete, `notes` change nothing. `lost` were right in the baseline
    and are not, `won` the other way round."""

    checks: list[Check] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: list[Turned] = field(default_factory=list)
    won: list[Turned] = field(default_factory=list)
    stale: bool = False

    @property
    def state(self) -> State:
        """Stale labels, then incomplete, then regression: only a whole run has a verdict."""
        if self.stale:
            return "stale_labels"
        found = {check.state for check in self.checks}
        if self.problems or "incomplete" in found:
            return "incomplete"
        return "regression" if "regression" in found else "pass"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.state]


def judge(results: Results, baseline: Baseline, policy: Sequence[Threshold]) -> Verdict:
    """Raises ConfigurationError where baseline and run are of different golden sets, the policy
    names an unknown tag, or allows a drop of less than one question."""
    same_questions(results, baseline)
    judged = _Judged(results, baseline)
    for threshold in policy:
        judged.worth_a_question(threshold)
    checks = [judged.check(threshold) for threshold in policy]
    missing = [key for key in baseline.ids if key not in results.questions]
    lost, won = turned(baseline.rows["metrics"], results.rows["metrics"], results.questions)
    return Verdict(
        checks=checks,
        problems=[*results.problems(), *(f"{key}: in the baseline, not run" for key in missing)],
        notes=notes(results, baseline),
        lost=lost,
        won=won,
    )


class _Judged:
    """One run against one baseline; what several thresholds need is computed once."""

    def __init__(self, results: Results, baseline: Baseline) -> None:
        self._results = results
        self._before, self._after = baseline.rows, results.rows
        self._tags = {key: record.golden.tags for key, record in results.questions.items()}
        self._changes: dict[tuple[str, str | None], dict[str, Change]] = {}
        self._gain = paired_differences(
            self._after["metrics"], question_rows(results.records, "naive")
        )

    def worth_a_question(self, threshold: Threshold) -> None:
        """Raises ConfigurationError for an unknown tag and for a drop that no question fits in."""
        if threshold.tag is not None:
            known = sorted({tag for tags in self._tags.values() for tag in tags})
            if threshold.tag not in known:
                raise nearest(threshold.tag, known, "tag")
        if threshold.kind not in ("drop", "rise"):
            return
        rows = self._of(self._before, threshold).values()
        n = sum(threshold.metric in row for row in rows)
        if not n:
            raise ConfigurationError(
                f"{threshold.name}: the baseline has no value of it; take it out, or accept anew"
            )
        if threshold.limit < 1 / n - TOLERANCE:
            least = math.ceil(10_000 / n) / 10_000
            raise ConfigurationError(
                f"{threshold.name} = {threshold.limit} is less than one question's worth: it "
                f"applies to {n}, so give {least} or more"
            )

    def check(self, threshold: Threshold) -> Check:
        if gone := self._check_gone(threshold):
            return gone
        if threshold.section == "gain":
            return self._check_gain(threshold)
        found = means(self._of(self._after, threshold).values()).get(threshold.metric)
        reported = _reported(self._results.metrics, threshold)
        if found is None or reported is None:
            where = "records.jsonl" if found is None else "metrics.json"
            return Check(threshold, "incomplete", said=f"{where} has no value of it")
        # The worse of both: neither a mixed-up folder nor an edited file passes.
        value = (max if threshold.metric in LESS_IS_BETTER else min)(found, reported)
        change = self._change(threshold)
        before = change.before if change else None
        if before is None and threshold.kind in ("drop", "rise"):
            return Check(threshold, "incomplete", value, said="no question to compare it on")
        failed, said = _failed(threshold, value, before or 0.0)
        return Check(
            threshold,
            "regression" if failed else "pass",
            value,
            before,
            None if before is None else round(value - before, 6),
            change.interval if change else None,
            said,
        )

    def _check_gone(self, threshold: Threshold) -> Check | None:
        """A fall: the baseline has the metric, and it applies to no question of this run any more,
        as where all are refused and no citation is left to check."""
        before = self._of(self._before, threshold)
        was = means(before.values()).get(threshold.metric)
        if was is None or any(
            threshold.metric in r for r in self._of(self._after, threshold).values()
        ):
            return None
        n = sum(threshold.metric in row for row in before.values())
        said = f"it applies to no question of this run; in the baseline to {n}, with {was:.4f}"
        return Check(threshold, "regression", baseline=was, said=said)

    def _check_gain(self, threshold: Threshold) -> Check:
        gain = self._gain.get(threshold.metric)
        reported = _reported(self._results.metrics, threshold)
        if gain is None or reported is None:
            return Check(threshold, "incomplete", said="one of the pipelines has no value of it")
        low, high = gain["interval"]
        at_most = threshold.kind == "at_most"
        value = (max if at_most else min)(gain["difference"], reported)
        beyond = value - threshold.limit if at_most else threshold.limit - value
        clear = high < 0 if at_most else low > 0
        said = "" if clear else f"the interval [{low:.3f}, {high:.3f}] does not exclude 0"
        if beyond > TOLERANCE:
            said = f"{value:+.4f} to the naive line, {threshold.kind} {threshold.limit}"
        state: State = "pass" if clear and beyond <= TOLERANCE else "regression"
        return Check(threshold, state, value, None, value, (low, high), said)

    def _change(self, threshold: Threshold) -> Change | None:
        key = (threshold.rows, threshold.tag)
        if key not in self._changes:
            before, after = self._of(self._before, threshold), self._of(self._after, threshold)
            self._changes[key] = changes(before, after)
        return self._changes[key].get(threshold.metric)

    def _of(self, rows: dict[str, dict[str, Row]], threshold: Threshold) -> dict[str, Row]:
        found = rows.get(threshold.rows, {})
        if threshold.tag is None:
            return found
        return {key: row for key, row in found.items() if threshold.tag in self._tags.get(key, ())}


def _failed(threshold: Threshold, value: float, before: float) -> tuple[bool, str]:
    """Whether the threshold is broken, and the sentence that says so."""
    kind, limit = threshold.kind, threshold.limit
    if kind == "floor":
        return value < limit - TOLERANCE, f"{value:.4f}, floor {limit}"
    if kind == "ceiling":
        return value > limit + TOLERANCE, f"{value:.4f}, ceiling {limit}"
    moved = before - value if kind == "drop" else value - before
    verb = "fell" if kind == "drop" else "rose"
    said = f"{verb} by {moved:.4f} from {before:.4f} to {value:.4f}, allowed {limit}"
    return moved > limit + TOLERANCE, said


def _reported(metrics: dict[str, Any], threshold: Threshold) -> float | None:
    """The value in metrics.json; None where it is missing or no finite number."""
    section, _, part = threshold.section.partition(".")
    path = {
        "metrics": ["metrics", "corrective", threshold.metric],
        "stages": ["stages", "corrective", part, threshold.metric],
        "tags": ["by_tag", part, "corrective", threshold.metric],
        "gain": ["gain", threshold.metric, "difference"],
    }[section]
    found: Any = metrics
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    number = isinstance(found, int | float) and math.isfinite(found)
    return float(found) if number and not isinstance(found, bool) else None
