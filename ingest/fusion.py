"""Orders made of several scores: reciprocal rank fusion and the min-max blend."""

from collections.abc import Mapping, Sequence
from typing import Literal

Fusion = Literal["blend", "rrf", "dense", "bm25"]
"""How the arms are merged; the last two leave the other arm out."""

Merge = Literal["best", "votes"]
"""What several queries make of one passage: its best score, or the mean over all of them, 0 where
one did not find it (CombSUM; Fox and Shaw, TREC-2)."""

RRF_K = 60
"""The constant of Cormack, Clarke and Büttcher (SIGIR 2009), with ranks from 1."""


def rrf(
    rankings: Sequence[Sequence[str]],
    k: int = RRF_K,
    *,
    weights: Sequence[float] | None = None,
) -> dict[str, float]:
    """Reciprocal rank fusion: sum of 1 / (k + rank), ranks from 1. For ordering only.

    `weights` count in their proportion: equal ones change nothing. With k = 60 and two rankings a
    score is at most 0.033: no threshold may meet it.
    """
    given = [1.0] * len(rankings) if weights is None else weights
    mean = sum(given) / len(given) if given else 1.0
    fused: dict[str, float] = {}
    for weight, ranking in zip(given, rankings, strict=True):
        for rank, key in enumerate(ranking, start=1):
            fused[key] = fused.get(key, 0.0) + weight / mean / (k + rank)
    return fused


def min_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores stretched to [0, 1] over this set; all 0 where they are equal. For ordering only."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    span = high - low
    return {key: (score - low) / span if span else 0.0 for key, score in scores.items()}


def blend(parts: Sequence[tuple[float, Mapping[str, float]]]) -> dict[str, float]:
    """A weighted mean of min-max scores, in [0, 1]. A key missing from a part counts 0 there."""
    total = sum(weight for weight, _ in parts)
    fused: dict[str, float] = {}
    for weight, scores in parts:
        for key, score in min_max(scores).items():
            fused[key] = fused.get(key, 0.0) + weight / total * score
    return fused


def best_first(scores: Mapping[str, float]) -> list[str]:
    """Keys by falling score; equal scores by key, so that an order is the same every time."""
    return sorted(scores, key=lambda key: (-scores[key], key))
