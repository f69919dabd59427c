"""Whether a run may be held against a baseline, and what else is different between them."""

from typing import Any

from eval.baseline import Baseline
from eval.results import Origin, Results
from ingest.errors import ConfigurationError

UNKNOWN = "not recorded"
"""What a run or a baseline of an older version does not say of itself."""


def same_questions(results: Results, baseline: Baseline) -> None:
    """Raises ConfigurationError where the run asked what the baseline does not have."""
    ours, theirs = results.origin.golden, baseline.golden
    renew = "`crag eval accept` makes a baseline of this run"
    if ours.sha256 != theirs.sha256:
        raise ConfigurationError(
            f"the baseline is of another golden set: {theirs.file} {theirs.sha256[:12]}, "
            f"and the run of {ours.file} {ours.sha256[:12]}; {renew}"
        )
    more = [key for key in results.questions if key not in baseline.ids]
    if more:
        raise ConfigurationError(
            f"the baseline has {len(baseline.ids)} questions of {theirs.file}, and not {more[0]} "
            f"and {len(more) - 1} others that were run; {renew}"
        )


def notes(results: Results, baseline: Baseline) -> list[str]:
    """What else is different: no reason to fail, but perhaps the reason for a failure."""
    now, was = _said(results.origin), _said(baseline)
    return [
        f"{name} is {now.get(name, UNKNOWN)}; the baseline's was {was.get(name, UNKNOWN)}"
        for name in sorted(now.keys() | was.keys())
        if now.get(name, UNKNOWN) != was.get(name, UNKNOWN)
    ]


def _said(origin: Origin) -> dict[str, Any]:
    """Versions and settings by name."""
    settings = {
        f"{section}.{name}": value
        for section, values in origin.settings.items()
        for name, value in values.items()
    }
    return {"index": origin.index_version, **origin.versions, **settings}
