"""Compares the numbers and dates of a claim with those of its source."""

from graph.adapters.claim_dates import Date
from graph.adapters.claim_numbers import Quantity
from graph.adapters.claim_reading import ReadText, read_text

_NEIGHBOURS = 3
"""Content words on each side of a number that may say what it counts."""


def number_signs(claim: ReadText, window: ReadText, everything: ReadText) -> dict[str, float]:
    asked: list[Quantity | Date] = [*claim.numbers, *claim.dates]
    if not asked:
        return dict.fromkeys(
            ("numbers_missing", "numbers_away", "number_clash", "bound", "unbound", "unattached"),
            0.0,
        )
    n = len(asked)
    missing = sum(not _found(one, everything) for one in asked)
    away = [one for one in asked if not _found(one, window)]
    pairs = [(q, s) for q in claim.numbers for s in window.numbers if _agree(q, s)]
    bounds = {q.start: [s.bound for s in window.numbers if _agree(q, s)] for q, _ in pairs}
    of = {q.start: q.bound for q, _ in pairs}
    clashing = sum(bool(of[at]) and of[at] not in own and any(own) for at, own in bounds.items())
    unbound = sum(bool(of[at]) != any(own) for at, own in bounds.items())
    heads = {q.start: any(_attached(claim, q, window, s) for s in window.numbers if _agree(q, s))
             for q, _ in pairs}  # fmt: skip
    return {
        "numbers_missing": missing / n,
        "numbers_away": len(away) / n,
        "number_clash": sum(_rivalled(one, window) for one in away) / n,
        "bound": clashing / n,
        "unbound": unbound / n,
        "unattached": sum(not held for held in heads.values()) / n,
    }


def _found(one: Quantity | Date, source: ReadText) -> bool:
    if isinstance(one, Date):
        return any(one.agrees(date) for date in source.dates)
    if any(_agree(one, other) for other in source.numbers):
        return True
    return any(date.year in one.values or date.day in one.values for date in source.dates)


def _agree(one: Quantity, other: Quantity) -> bool:
    if not one.values & other.values:
        return False
    measured = [k for k in (one.kind, other.kind) if k and not k.startswith("#")]
    return len(measured) < 2 or one.kind == other.kind


def _rivalled(one: Quantity | Date, window: ReadText) -> bool:
    """Whether the source has another number of the kind in its place."""
    if isinstance(one, Date):
        return bool(window.dates)
    return any(one.kind == other.kind for other in window.numbers)


def _attached(claim: ReadText, q: Quantity, window: ReadText, s: Quantity) -> bool:
    """Whether what a number is said of is so in the source as well, or not spoken of there."""
    head = [w.stem for w in claim.content if w.start < q.start][-1:]
    if not head or head[0] not in window.stems:
        return True
    before = [w.stem for w in window.content if w.start < s.start][-_NEIGHBOURS:]
    after = [w.stem for w in window.content if w.start >= s.end][:1]
    return head[0] in before or (head[0] in after and s.end < len(window.text) and not before)


def missing_numbers(claim: str, source: str) -> set[str]:
    """The claim's own words for each number or date that the source does not have, however it is
    written there."""
    mine, its = read_text(claim), read_text(source)
    said: list[Quantity | Date] = [*mine.numbers, *mine.dates]
    return {claim[one.start : one.end].strip() for one in said if not _found(one, its)}
