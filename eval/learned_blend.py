"""A blend of all that is known of a candidate, fitted on labels: does it beat equal thirds?

It does not so far (eval/BENCHMARKS.md), so no answer uses it: this is how that was measured.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.datasets import Question
from eval.retrieval import Ranked, documents_of, retrieval_values
from graph.adapters.question_signs import missing, read_question, share, text_stems
from ingest.documents import Candidate
from ingest.fusion import best_first, min_max
from nodes.answer_type import holds_type

Matrix = NDArray[np.float64]

SIGNS = (
    "dense", "bm25", "late", "rank_dense", "rank_bm25", "rank_late", "worst_rank", "best_rank",
    "coverage", "rare_coverage", "literals", "numbers", "names", "kind",
)  # fmt: skip
ARMS = ("dense", "bm25", "late_interaction")
FOLDS = 5
STEPS = 30


@dataclass(frozen=True)
class Asked:
    """A question of a set with its reranked candidates and their signs, a row for each."""

    dataset: str
    question: Question
    candidates: list[Candidate]
    signs: Matrix

    @property
    def gains(self) -> Matrix:
        """The candidates' labels, with sum 1; all 0 where none is relevant."""
        labels = [self.question.relevant.get(source, 0) for source in self._sources]
        return np.asarray(labels, float) / max(1, sum(labels))

    @property
    def _sources(self) -> list[str]:
        return [candidate.chunk.metadata["source"] for candidate in self.candidates]


def read(dataset: str, question: Question, candidates: Sequence[Candidate]) -> Asked:
    """All signs are in [0, 1]: scores by min-max over the candidates, ranks as 1 / rank, shares of
    what the question names that the passage holds."""
    asked = read_question(question.text)
    texts = [candidate.chunk.embedded_text for candidate in candidates]
    stems = [text_stems(text, asked.language) for text in texts]
    arms = [{str(n): c.scores[arm] for n, c in enumerate(candidates)} for arm in ARMS]
    places = [{key: place for place, key in enumerate(best_first(arm), start=1)} for arm in arms]
    rare = _rarity(asked.stems, stems)
    rows = []
    for n, text in enumerate(texts):
        ranks = [place[str(n)] for place in places]
        rows.append(
            [
                *(min_max(arm)[str(n)] for arm in arms),
                *(1 / rank for rank in ranks),
                1 / max(ranks),
                1 / min(ranks[:2]),
                share(asked.stems, stems[n]),
                sum(rare[stem] for stem in asked.stems & stems[n]),
                1 - missing(asked.literals, text.lower()),
                1 - missing(asked.numbers, text),
                1 - missing(asked.names, text.lower()),
                float(holds_type(text, asked.kind)),
            ]
        )
    return Asked(dataset, question, list(candidates), np.asarray(rows, float))


def fit(questions: Sequence[Asked], columns: Sequence[int], *, l2: float) -> Matrix:
    """Listwise logistic regression (ListNet's top-one loss, Cao et al., ICML 2007) by Newton's
    method. A set of n questions weighs sqrt(n), so that a large one does not decide alone."""
    used = [one for one in questions if one.gains.any()]
    sizes = [sum(other.dataset == one.dataset for other in used) for one in used]
    weights = 1 / np.sqrt(sizes)
    weights = weights / weights.sum()
    found = np.zeros(len(columns))
    for _ in range(STEPS):
        slope, bend = 2 * l2 * found, 2 * l2 * np.eye(len(columns))
        for one, weight in zip(used, weights, strict=True):
            rows = one.signs[:, columns]
            exact = np.exp(rows @ found - (rows @ found).max())
            chance = exact / exact.sum()
            mean = chance @ rows
            slope = slope + weight * (mean - one.gains @ rows)
            bend = bend + weight * ((rows * chance[:, None]).T @ rows - np.outer(mean, mean))
        step = np.linalg.solve(bend, slope)
        found = found - step
        if np.abs(step).max() < 1e-8:
            break
    return found


def cross_validated(
    questions: Sequence[Asked], columns: Sequence[int], *, l2: float
) -> dict[str, list[float]]:
    """By set, what nDCG@10 of each question gains over the order that it came in: fitted on four
    folds, measured on the fifth."""
    gains: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        held = [one for one in questions if _fold(one.question.id) == fold]
        rest = [one for one in questions if _fold(one.question.id) != fold]
        if held:
            weights = fit(rest, columns, l2=l2)
            before = _ndcg([(one, one.candidates) for one in held])
            after = _ndcg([(one, ordered(one, weights, columns)) for one in held])
            for one, old, new in zip(held, before, after, strict=True):
                gains.setdefault(one.dataset, []).append(new - old)
    return gains


def ordered(one: Asked, weights: Matrix, columns: Sequence[int]) -> list[Candidate]:
    by_id = {candidate.chunk.chunk_id: candidate for candidate in one.candidates}
    scores = dict(zip(by_id, (one.signs[:, columns] @ weights).tolist(), strict=True))
    return [by_id[key] for key in best_first(scores)]


def _ndcg(orders: Sequence[tuple[Asked, Sequence[Candidate]]]) -> list[float]:
    ranked = [Ranked(one.question, documents_of(order), 0.0) for one, order in orders]
    return retrieval_values(ranked)["nDCG@10"]


def _rarity(wanted: frozenset[str], stems: Sequence[set[str]]) -> Mapping[str, float]:
    """Each stem's part of the question's inverse document frequency among the candidates."""
    counts = {stem: sum(stem in own for own in stems) for stem in wanted}
    idf = {k: np.log1p((len(stems) - n + 0.5) / (n + 0.5)) for k, n in counts.items()}
    total = sum(idf.values()) or 1.0
    return {stem: float(value / total) for stem, value in idf.items()}


def _fold(identity: str) -> int:
    return int(hashlib.sha256(f"fold {identity}".encode()).hexdigest(), 16) % FOLDS
