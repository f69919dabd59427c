"""The policy of the gate: which metrics are held to which thresholds (eval/gate.toml shows all)."""

import difflib
import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from eval.metrics import ALL
from eval.records import STAGES
from eval.retrieval_metrics import NAMES
from ingest.errors import ConfigurationError

Kind = Literal["floor", "ceiling", "drop", "rise", "at_least", "at_most"]

COSTS = ("loops", "chat_calls", "tokens")
LESS_IS_BETTER = ("answered_wrong", *COSTS)
SECTIONS = ("metrics", "stages", "tags", "gain")


@dataclass(frozen=True)
class Threshold:
    """One limit of one metric.

    `section` is metrics, gain, stages.<stage> or tags.<tag>. floor and ceiling limit the value,
    drop and rise its fall and rise against the baseline, at_least and at_most the difference to
    the naive line.
    """

    section: str
    metric: str
    kind: Kind
    limit: float

    @property
    def name(self) -> str:
        return f"{self.section} {self.metric} {self.kind}"

    @property
    def rows(self) -> str:
        """The section whose rows hold the values: a tag is a part of metrics."""
        return self.section if self.section.startswith("stages.") else "metrics"

    @property
    def tag(self) -> str | None:
        return self.section.removeprefix("tags.") if self.section.startswith("tags.") else None


def load_policy(file: Path) -> list[Threshold]:
    """Raises ConfigurationError for a file that is not there, an unknown name (with the nearest
    known one), a metric without a threshold, and a threshold that could never fail."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"policy {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"policy {file}: not TOML: {error}") from None
    try:
        thresholds = [
            Threshold(section, metric, *pair)
            for section, metrics in _sections(content)
            for metric, rule in metrics.items()
            for pair in _limits(section, metric, rule)
        ]
    except ConfigurationError as error:
        raise ConfigurationError(f"policy {file}: {error.message}") from None
    if not thresholds:
        raise ConfigurationError(f"policy {file}: it has no threshold, so nothing could fail")
    return thresholds


def nearest(name: str, known: Sequence[str], what: str) -> ConfigurationError:
    """The error for an unknown name."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return ConfigurationError(f"unknown {what} {name!r}{hint}")


def _sections(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, found in content.items():
        if name not in SECTIONS:
            raise nearest(name, SECTIONS, "section")
        if name in ("metrics", "gain"):
            yield name, _table(name, found)
            continue
        for part, metrics in _table(name, found).items():
            if name == "stages" and part not in STAGES:
                raise nearest(part, STAGES, "stage")
            yield f"{name}.{part}", _table(f"{name}.{part}", metrics)


def _table(name: str, found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ConfigurationError(f"{name} must be a table, not {found!r}")
    if not found:
        raise ConfigurationError(f"{name} is empty: name a metric and its threshold")
    return found


def _limits(section: str, metric: str, rule: Any) -> Iterator[tuple[Kind, float]]:
    known = NAMES if section.startswith("stages.") else ALL
    if metric not in known:
        raise nearest(metric, known, f"metric in {section}:")
    kinds = _kinds(section, metric)
    where = f"{section}: {metric}"
    if not isinstance(rule, dict) or not rule:
        raise ConfigurationError(f"{where} has no threshold; give {' or '.join(kinds)}")
    for kind, limit in rule.items():
        if kind not in kinds:
            wrong = nearest(kind, kinds, "key")
            raise ConfigurationError(f"{where}: {wrong.message} It takes {' and '.join(kinds)}")
        yield kind, _checked(f"{where}: {kind}", kind, metric, limit)


def _kinds(section: str, metric: str) -> tuple[Kind, Kind]:
    less = metric in LESS_IS_BETTER
    if section == "gain":
        return ("at_most", "at_least") if less else ("at_least", "at_most")
    return ("ceiling", "rise") if less else ("floor", "drop")


def _checked(where: str, kind: str, metric: str, limit: Any) -> float:
    """The limit, where it can both hold and fail."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
        raise ConfigurationError(f"{where} must be a number, not {limit!r}")
    most = math.inf if metric in COSTS else 1.0
    low, high = {
        "floor": (limit > 0, limit <= most),
        "ceiling": (limit >= 0, limit < most),
        "drop": (limit > 0, limit < most),
        "rise": (limit > 0, limit < most),
        "at_least": (limit >= 0, limit < most),
        "at_most": (-most < limit, limit <= 0),
    }[kind]
    if not (low and high):
        raise ConfigurationError(f"{where} = {limit} could never fail, or never hold")
    return float(limit)
