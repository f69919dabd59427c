"""A blend of all that is known of a candidate, fitted on labels: does it beat equal thirds?

It does not so far (eval/BENCHMARKS.md), so no answer uses it: this is how that was measured.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

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
STEPS = 50
SMALLEST = 1e-7
"""A step that ends the fit."""


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
    method, each step halved until the loss falls. A set of n questions weighs sqrt(n), so that a
    large one does not decide alone."""
    used = [one for one in questions if one.gains.any()]
    lists = _Lists.of(used, columns)
    found = np.zeros(len(columns))
    loss = lists.loss(found, l2)
    for _ in range(STEPS):
        slope, bend = lists.curve(found, l2)
        step = np.linalg.solve(bend, slope)
        while lists.loss(found - step, l2) > loss and np.abs(step).max() > SMALLEST:
            step = step / 2
        if np.abs(step).max() <= SMALLEST:
            break
        found = found - step
        loss = lists.loss(found, l2)
    return found


@dataclass(frozen=True)
class _Lists:
    """Questions side by side: signs (question, candidate, sign), labels with sum 1 (question,
    candidate), which places hold a candidate, and the weight of each question, with sum 1."""

    signs: Matrix
    gains: Matrix
    holds: NDArray[np.bool_]
    weights: Matrix

    @classmethod
    def of(cls, used: Sequence[Asked], columns: Sequence[int]) -> Self:
        longest = max((len(one.candidates) for one in used), default=0)
        signs = np.zeros((len(used), longest, len(columns)))
        gains = np.zeros((len(used), longest))
        holds = np.zeros((len(used), longest), dtype=bool)
        for n, one in enumerate(used):
            held = len(one.candidates)
            signs[n, :held], gains[n, :held] = one.signs[:, columns], one.gains
            holds[n, :held] = True
        sizes = Counter(one.dataset for one in used)
        weights = np.asarray([1 / np.sqrt(sizes[one.dataset]) for one in used])
        return cls(signs, gains, holds, weights / weights.sum())

    def loss(self, found: Matrix, l2: float) -> float:
        chances = np.log(np.maximum(self._chances(found), np.finfo(float).tiny))
        return float(l2 * found @ found - self.weights @ (self.gains * chances).sum(axis=1))

    def curve(self, found: Matrix, l2: float) -> tuple[Matrix, Matrix]:
        """The gradient of the loss and its matrix of second derivatives."""
        chances = self._chances(found)
        means = np.einsum("qn,qnc->qc", chances, self.signs)
        wanted = np.einsum("qn,qnc->qc", self.gains, self.signs)
        slope = 2 * l2 * found + self.weights @ (means - wanted)
        weighted = self.signs * (chances * self.weights[:, None])[:, :, None]
        squares = np.einsum("qnc,qnd->cd", weighted, self.signs)
        bend = squares - (means * self.weights[:, None]).T @ means
        return slope, bend + 2 * l2 * np.eye(len(found))

    def _chances(self, found: Matrix) -> Matrix:
        scores = np.where(self.holds, self.signs @ found, -np.inf)
        exact = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(exact / exact.sum(axis=1, keepdims=True))


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
