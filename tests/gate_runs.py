"""Folders of results as `crag eval run` leaves them, made of records that a test thought up."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.evaluate import write_metrics
from eval.golden import GoldenQuestion
from eval.metrics import measure
from eval.records import PIPELINES, Ran, Record, write_record
from eval.results import METRICS, RECORDS, Results, read_results
from tests.golden_records import a_question, a_record, a_refusal, a_run

ABOUT: dict[str, Any] = {
    "golden": {"file": "golden.jsonl", "sha256": "0" * 64, "split": None},
    "index_version": "v1",
    "versions": {"pipeline": "1"},
    "settings": {"rerank": {"keep": 5}},
}

QUESTIONS: list[GoldenQuestion] = [
    *(a_question(f"a{n}", must_contain=["five days"], tags=["lookup"]) for n in range(10)),
    *(a_question(f"u{n}", answerable=False, tags=["unanswerable"]) for n in range(10)),
]
"""Ten with an answer and ten without."""


def a_whole_run(changed: Mapping[str, Ran | None] | None = None) -> list[Record]:
    """The corrective run answers right and refuses rightly, but where it is `changed` (None is an
    error); the naive line always answers."""
    changed = changed or {}
    records = []
    for question in QUESTIONS:
        best = a_run() if question.answerable else a_refusal()
        ran = changed.get(question.id, best)
        records.append(a_record("corrective", question, ran, ["c1", "c2"]))
        records.append(a_record("naive", question, a_run(), ["c2", "c1"]))
    assert {record.pipeline for record in records} == set(PIPELINES)
    return records


def written(
    folder: Path, records: Sequence[Record], metrics: dict[str, Any] | None = None, **about: Any
) -> Results:
    """The folder's results, read again. `metrics` stand for those of the records."""
    folder.mkdir()
    with (folder / RECORDS).open("w", encoding="utf-8") as file:
        for record in records:
            write_record(file, record)
    write_metrics(folder / METRICS, metrics or measure(records, about=ABOUT | about))
    return read_results(folder)
