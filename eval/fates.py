"""What became of a question: right, wrong, rightly or needlessly refused, or an error."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from eval.answer_metrics import answered, right
from eval.records import Record

Fate = Literal["right", "declined", "refused", "wrong", "error"]

FATES: dict[Fate, str] = {
    "right": "answered right",
    "declined": "rightly refused",
    "refused": "refused though answerable",
    "wrong": "answered wrong",
    "error": "error",
}
"""Best first, with the words a person reads."""


def fate(record: Record) -> Fate:
    """As the metrics count it: whatever is no answer is a refusal, and an answer to an unanswerable
    question is wrong."""
    if record.ran is None:
        return "error"
    if answered(record.ran):
        return "right" if right(record.golden, record.ran) else "wrong"
    return "refused" if record.golden.answerable else "declined"


def fate_counts(records: Iterable[Record]) -> dict[Fate, int]:
    """Every fate, also those that nothing met."""
    counted = Counter(fate(record) for record in records)
    return {name: counted[name] for name in FATES}
