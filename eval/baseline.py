"""The accepted figures that later runs are held against, question by question."""

import json
import math
from pathlib import Path
from typing import Any, Self

from pydantic import ConfigDict, FiniteFloat, ValidationError, model_validator

from eval.metrics import Row
from eval.policy import COSTS
from eval.results import GoldenFile, Origin, Results, Rows
from ingest.errors import ConfigurationError


class Baseline(Origin):
    """`values` are by section (metrics, stages.<stage>) and metric, in the order of `ids`; None
    where the metric does not apply to the question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ids: list[str]
    values: dict[str, dict[str, list[FiniteFloat | None]]]

    @model_validator(mode="after")
    def _one_value_for_each_question(self) -> Self:
        if not self.ids or len(set(self.ids)) != len(self.ids):
            raise ValueError("ids are missing or stand twice")
        for section, metrics in self.values.items():
            for name, column in metrics.items():
                if len(column) != len(self.ids):
                    raise ValueError(f"{section}: {name} has {len(column)} values, not one per id")
        return self

    @property
    def rows(self) -> Rows:
        """As Results.rows."""
        return {section: self._rows(metrics) for section, metrics in self.values.items()}

    def _rows(self, metrics: dict[str, list[float | None]]) -> dict[str, Row]:
        rows: dict[str, Row] = {key: {} for key in self.ids}
        for name, column in metrics.items():
            for key, value in zip(self.ids, column, strict=True):
                if value is not None:
                    rows[key][name] = value
        return rows


def from_results(results: Results) -> Baseline:
    """The baseline that accepts this run. What a run costs is left out where it is always 0."""
    ids = list(results.questions)
    values: dict[str, dict[str, list[float | None]]] = {}
    for section, rows in results.rows.items():
        names = dict.fromkeys(name for row in rows.values() for name in row)
        columns = {name: [rows.get(key, {}).get(name) for key in ids] for name in names}
        values[section] = {n: c for n, c in columns.items() if n not in COSTS or any(c)}
    return Baseline(**results.origin.model_dump(), ids=ids, values=values)


def read_baseline(file: Path) -> Baseline:
    """Raises ConfigurationError."""
    try:
        return Baseline.model_validate_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        said = f"{error.strerror}; `crag eval accept` writes it"
    except UnicodeDecodeError:
        said = "not UTF-8"
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        said = (
            f"{place}: {problem['msg']}" if place else problem["msg"].removeprefix("Value error, ")
        )
    raise ConfigurationError(f"baseline {file}: {said}")


def of_another_set(baseline: Baseline, results: Results) -> str:
    """Why the run is of other questions than the baseline's; empty where it is of the same set,
    whose questions and labels may have been edited since."""
    was, now = baseline.golden, results.origin.golden
    if (was.file, was.split) != (now.file, now.split):
        return f"{_named(was)}, and this run is {_named(now)}"
    if not results.questions.keys() & set(baseline.ids):
        return f"{_named(was)}, and this run has none of its questions"
    return ""


def as_text(baseline: Baseline) -> str:
    """The file's content: a metric a line, so that a change of it shows which metrics moved."""
    content = baseline.model_dump()
    values = content.pop("values")
    lines = [f'  "{name}": {json.dumps(value)}' for name, value in content.items()]
    sections = [
        f'    "{section}": {{\n'
        + ",\n".join(f'      "{name}": {_column(column)}' for name, column in metrics.items())
        + "\n    }"
        for section, metrics in values.items()
    ]
    lines.append('  "values": {\n' + ",\n".join(sections) + "\n  }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _named(golden: GoldenFile) -> str:
    return f"of {golden.file}" + (f", split {golden.split}" if golden.split else "")


def _column(values: list[float | None]) -> str:
    """Whole numbers without their point: most values are 0 or 1."""
    short: list[Any] = [
        int(value) if value is not None and math.floor(value) == value else value
        for value in values
    ]
    return json.dumps(short, separators=(",", ":"))
