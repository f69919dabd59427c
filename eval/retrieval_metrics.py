"""Retrieval metrics as trec_eval defines them, computed by ir_measures."""

from collections.abc import Mapping, Sequence
from typing import Any

CUTOFFS = (1, 3, 5, 10)
NAMES = (*(f"{name}@{k}" for name in ("hit", "P", "R", "nDCG") for k in CUTOFFS), "RR")


def retrieval_values(
    rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """By question, the value of each of NAMES. `rankings` are ids, best first; `relevant` maps ids
    to gains >= 1. Every question needs something relevant; one without a ranking has zeros.

    hit@k is 1 where one of the first k is relevant, P@k divides by k however few were found, nDCG@k
    takes linear gains.
    """
    measures = {_measure(name): name for name in NAMES}
    found = {question: dict.fromkeys(NAMES, 0.0) for question in rankings}
    for metric in _calculated(list(measures), rankings, relevant):
        found[metric.query_id][measures[metric.measure]] = float(metric.value)
    return found


def recall_curve(
    rankings: Mapping[str, Sequence[str]],
    relevant: Mapping[str, Mapping[str, int]],
    depths: Sequence[int],
) -> list[float]:
    """The mean recall at each depth."""
    from ir_measures import R

    measures = [R @ depth for depth in depths]
    sums = dict.fromkeys(measures, 0.0)
    for metric in _calculated(measures, rankings, relevant):
        sums[metric.measure] += float(metric.value)
    return [sums[measure] / max(1, len(rankings)) for measure in measures]


def _measure(name: str) -> Any:
    import ir_measures

    plain = name.replace("hit@", "Success@").replace("nDCG@", "nDCG@")
    return ir_measures.parse_measure(plain)


def _calculated(
    measures: list[Any],
    rankings: Mapping[str, Sequence[str]],
    relevant: Mapping[str, Mapping[str, int]],
) -> Any:
    import ir_measures

    # trec_eval sorts by score and breaks ties by id: the place in the ranking is the score.
    runs = {
        question: {one: float(len(ranked) - place) for place, one in enumerate(ranked)}
        for question, ranked in rankings.items()
        if ranked
    }
    qrels = {question: dict(relevant[question]) for question in rankings}
    return ir_measures.iter_calc(measures, qrels, runs)
