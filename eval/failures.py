"""The questions that failed, with all that a person needs to see why."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval.answer_metrics import cites, worded
from eval.fates import FATES, Fate, fate
from eval.labels import holds_words
from eval.records import STAGES, Ran, Record
from graph.trace_view import lines_of

GROUPS: dict[Fate, str] = {
    "wrong": "an answer that is not right, or one to a question that has none",
    "refused": "the documents hold an answer, and the run did not give it",
    "error": "the run ended without a result",
}
SHOWN = 300
"""Failures of one group that a report holds: more would make a file that no browser opens well."""
LONGEST = 1500
"""Characters of a text that are shown; records.jsonl has the rest."""
LONGEST_LINE = 300


@dataclass(frozen=True)
class Check:
    text: str
    met: bool


@dataclass(frozen=True)
class Place:
    """Where a stage put the relevant passages: the first one's rank, None where it has none."""

    stage: str
    rank: int | None
    found: int
    length: int


@dataclass(frozen=True)
class Step:
    node: str
    status: str
    ms: float
    lines: list[str]


@dataclass(frozen=True)
class Failure:
    """`why` is one line; `wanted` and `forbidden` are met where the answer is as it should be;
    `other` is what the other pipeline did."""

    record: Record
    why: str
    wanted: list[Check]
    forbidden: list[Check]
    quotes: list[tuple[str, Check]]
    places: list[Place]
    trace: list[Step]
    other: Record | None
    other_fate: str


@dataclass(frozen=True)
class Group:
    fate: Fate
    name: str
    meaning: str
    n: int
    failures: list[Failure]


def groups(records: Sequence[Record], others: Sequence[Record]) -> list[Group]:
    """The failures of one pipeline's records, and the errors also of the others'."""
    by_id = {record.golden.id: record for record in others}
    failed: dict[Fate, list[Record]] = {name: [] for name in GROUPS}
    for record in records:
        failed.setdefault(fate(record), []).append(record)
    failed["error"] += [record for record in others if record.ran is None]
    return [
        Group(
            name,
            FATES[name],
            meaning,
            len(failed[name]),
            [_failure(one, by_id.get(one.golden.id)) for one in failed[name][:SHOWN]],
        )
        for name, meaning in GROUPS.items()
    ]


def clipped(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[:longest].rstrip() + " …"


def _failure(record: Record, other: Record | None) -> Failure:
    golden, ran = record.golden, record.ran
    told = worded(ran) if ran else ""
    if other is record:
        other = None
    return Failure(
        record,
        _why(record),
        [Check(text, holds_words(told, text)) for text in golden.must_contain],
        [Check(text, not holds_words(told, text)) for text in golden.forbidden],
        [(x.document, Check(x.quote, ran is not None and cites(ran, x))) for x in golden.relevant],
        _places(record, ran) if ran else [],
        [_step(entry) for entry in ran.trace] if ran else [],
        other,
        FATES[fate(other)] if other else "",
    )


def _why(record: Record) -> str:
    golden, ran = record.golden, record.ran
    if ran is None:
        return f"{record.pipeline}: {record.error or 'no result'}"
    kind = fate(record)
    if kind == "refused":
        return f"{ran.outcome}, {ran.reason}" if ran.reason else ran.outcome
    if kind != "wrong":
        return FATES[kind]
    if not golden.answerable:
        return "it has no answer in the documents"
    told = worded(ran)
    missing = [text for text in golden.must_contain if not holds_words(told, text)]
    said = [text for text in golden.forbidden if holds_words(told, text)]
    parts = [f"says the forbidden “{text}”" for text in said]
    parts += [f"does not say “{text}”" for text in missing]
    return "; ".join(parts) or "cites none of the labelled quotes"


def _places(record: Record, ran: Ran) -> list[Place]:
    relevant = set(record.relevant)
    if not relevant:
        return []
    places = []
    for stage in STAGES:
        if stage in ran.stages:
            ranks = [i for i, one in enumerate(ran.stages[stage], start=1) if one in relevant]
            rank = ranks[0] if ranks else None
            places.append(Place(stage, rank, len(ranks), len(ran.stages[stage])))
    return places


def _step(entry: dict[str, Any]) -> Step:
    try:
        lines = [text for text, _ in lines_of(entry)]
    except (KeyError, TypeError, AttributeError, ValueError):  # a trace of another version
        lines = [json.dumps(entry.get("summary"), ensure_ascii=False, default=str)]
    return Step(
        str(entry.get("node", "?")),
        str(entry.get("status", "?")),
        float(entry.get("ms") or 0),
        [clipped(line, LONGEST_LINE) for line in lines],
    )
