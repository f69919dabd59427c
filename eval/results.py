"""The folder that `crag eval run` wrote, as the gate and its siblings read it."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from eval.metrics import Row, question_rows, stage_rows
from eval.records import PIPELINES, STAGES, Record, of_pipeline, read_records
from eval.relevance import StaleLabels
from ingest.errors import ConfigurationError, ServiceError

RECORDS, METRICS, STALE = "records.jsonl", "metrics.json", "stale_labels.txt"
ASKED = "asked.json"
"""What records.jsonl is of, so that a run which resumes knows its own."""
DIGITS = 6
"""Decimals that values of questions are compared with, as in metrics.json and the baseline."""

Rows = dict[str, dict[str, Row]]
"""By section (metrics, stages.<stage>) and question id."""


class GoldenFile(BaseModel):
    """Which questions were asked; `split` None means all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    sha256: str
    split: str | None = None


class Origin(BaseModel):
    """What figures were made from, as metrics.json names it."""

    model_config = ConfigDict(frozen=True)

    golden: GoldenFile
    index_version: str
    versions: dict[str, str]
    settings: dict[str, dict[str, Any]] = {}


class Incomplete(ServiceError):
    """A run that lacks something, so that nothing can be said about it."""

    code = "incomplete"


@dataclass(frozen=True)
class Results:
    """Of one run: what metrics.json says, and the records it was made from."""

    folder: Path
    metrics: dict[str, Any]
    records: list[Record]

    @property
    def origin(self) -> Origin:
        return Origin.model_validate(self.metrics)

    @cached_property
    def questions(self) -> dict[str, Record]:
        """The corrective records by question id."""
        return {record.golden.id: record for record in of_pipeline(self.records, "corrective")}

    @cached_property
    def rows(self) -> Rows:
        """The corrective run's values by section and question, from the records."""
        found = {"metrics": question_rows(self.records, "corrective")}
        found |= {f"stages.{stage}": stage_rows(self.records, stage) for stage in STAGES}
        return {
            section: {key: _rounded(row) for key, row in rows.items()}
            for section, rows in found.items()
            if rows
        }

    def problems(self) -> list[str]:
        """Why this run is incomplete: errors, rows missing or double, values that are no number."""
        return [*_row_problems(self), *_number_problems(self)]


def read_results(folder: Path) -> Results:
    """Raises ConfigurationError for a folder that is not there, StaleLabels where the run stopped
    on them, and Incomplete where its files are missing or broken."""
    if not folder.is_dir():
        raise ConfigurationError(f"there is no folder {folder}; `crag eval run --out` makes it")
    if (folder / STALE).is_file():
        raise StaleLabels((folder / STALE).read_text(encoding="utf-8").strip())
    for name in (RECORDS, METRICS):
        if not (folder / name).is_file():
            raise Incomplete(f"{folder} has no {name}: the run did not end; run it again")
    try:
        metrics = json.loads((folder / METRICS).read_text(encoding="utf-8"))
        records = read_records(folder / RECORDS)
        Origin.model_validate(metrics)
    except ConfigurationError as error:
        raise Incomplete(error.message) from None
    except ValueError:
        raise Incomplete(f"{folder / METRICS} is broken; run it again") from None
    if not records:
        raise Incomplete(f"{folder / RECORDS} is empty; run it again")
    return Results(folder, metrics, records)


def _row_problems(results: Results) -> Iterator[str]:
    counted = Counter(record.key for record in results.records)
    ids = dict.fromkeys(record.golden.id for record in results.records)
    for (pipeline, key), times in counted.items():
        if times > 1:
            yield f"{key} ({pipeline}): {times} records"
    for key in ids:
        for pipeline in PIPELINES:
            if (pipeline, key) not in counted:
                yield f"{key} ({pipeline}): no record"
    for record in results.records:
        if record.ran is None:
            yield f"{record.golden.id} ({record.pipeline}): {record.error or 'no result'}"
    if results.metrics.get("n") != len(ids):
        yield f"{METRICS} counts {results.metrics.get('n')} questions, {RECORDS} has {len(ids)}"
    errors = sum(record.ran is None for record in results.records)
    if results.metrics.get("errors") != errors:
        yield f"{METRICS} counts {results.metrics.get('errors')} errors, {RECORDS} has {errors}"


def _number_problems(results: Results) -> Iterator[str]:
    for record in results.records:
        for place, _ in _not_finite(record.ran.model_dump() if record.ran else {}):
            yield f"{record.golden.id} ({record.pipeline}): {place} is no number"
    for place, value in _not_finite(results.metrics):
        yield f"{METRICS}: {place} is {value}, no number"


def _not_finite(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, float) and not math.isfinite(value):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _not_finite(inner, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _not_finite(inner, f"{place}[{number}]")


def _rounded(row: Row) -> Row:
    return {name: round(float(value), DIGITS) for name, value in row.items()}
