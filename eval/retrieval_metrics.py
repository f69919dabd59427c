"""Retrieval metrics as trec_eval defines them, computed by its own code in pytrec_eval."""

from collections.abc import Iterable, Mapping, Sequence

CUTOFFS = (1, 3, 5, 10)
SAID = {"hit": "success", "P": "P", "R": "recall", "nDCG": "ndcg_cut"}
"""What trec_eval calls them."""

NAMES = (*(f"{name}@{k}" for name in SAID for k in CUTOFFS), "RR")
_KEYS = (*(f"{name}_{k}" for name in SAID.values() for k in CUTOFFS), "recip_rank")


def retrieval_values(
    rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """By question, the value of each of NAMES. `rankings` are ids, best first; `relevant` maps ids
    to gains >= 1. Every question needs something relevant; one without a ranking has zeros.

    hit@k is 1 where one of the first k is relevant, P@k divides by k however few were found, nDCG@k
    takes linear gains.
    """
    measures = [_at(name, CUTOFFS) for name in SAID.values()]
    found = _calculated([*measures, "recip_rank"], rankings, relevant)
    none = dict.fromkeys(_KEYS, 0.0)
    return {
        question: dict(zip(NAMES, map(found.get(question, none).__getitem__, _KEYS), strict=True))
        for question in rankings
    }


def recall_curve(
    rankings: Mapping[str, Sequence[str]],
    relevant: Mapping[str, Mapping[str, int]],
    depths: Sequence[int],
) -> list[float]:
    """The mean recall at each depth."""
    found = _calculated([_at("recall", depths)], rankings, relevant).values()
    return [sum(x[f"recall_{depth}"] for x in found) / max(1, len(rankings)) for depth in depths]


def _at(name: str, cutoffs: Sequence[int]) -> str:
    return f"{name}.{','.join(map(str, cutoffs))}"


def _calculated(
    measures: Iterable[str],
    rankings: Mapping[str, Sequence[str]],
    relevant: Mapping[str, Mapping[str, int]],
) -> dict[str, dict[str, float]]:
    """By question that has a ranking, and by trec_eval's name."""
    import pytrec_eval

    # trec_eval sorts by score and breaks ties by id: the place in the ranking is the score.
    runs = {
        question: dict(zip(ranked, map(float, range(len(ranked), 0, -1)), strict=True))
        for question, ranked in rankings.items()
        if ranked
    }
    if not runs:
        return {}
    qrels = {question: dict(relevant[question]) for question in runs}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(
        qrels, set(measures)
    ).evaluate(runs)
    return found
