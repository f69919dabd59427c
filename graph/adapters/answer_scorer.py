"""How probable it is that each sentence of a passage states what a question asks for."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graph.adapters.calibration import AnswerModel, Calibration
from graph.adapters.passage_signs import Signs
from graph.adapters.pool_signs import ReadSentence, pooled, read_passages
from graph.adapters.question_signs import read_question
from graph.adapters.sentence_signs import SentenceSigns
from graph.adapters.token_vectors import TokenVectors
from ingest.documents import Candidate
from ingest.errors import ServiceError
from ingest.passage_vectors import PassageVectors
from nodes.instructions import is_instruction


@dataclass(frozen=True)
class ScoredSentence:
    """`probability` is None where no model was fitted for what is known of the passage."""

    sentence: SentenceSigns
    probability: float | None
    signs: Signs


@dataclass(frozen=True)
class ScoredPassage:
    """The sentences that may answer, in order, and the model that judged them. One that gives
    orders to a model is none of them: it says what to do, and not what is so."""

    candidate: Candidate
    model: AnswerModel | None
    sentences: list[ScoredSentence]

    @property
    def best(self) -> ScoredSentence | None:
        known = [s for s in self.sentences if s.probability is not None]
        return max(known, key=lambda s: s.probability or 0.0, default=None)


@dataclass(frozen=True)
class Scoring:
    """`problem` says why the scores are weaker than usual, or is empty."""

    passages: list[ScoredPassage]
    problem: str = ""


class AnswerScorer:
    """One calibrated model for each feature set.

    `full` for passages of the index, `web` for those without its scores. Where the token vectors
    fail, `words` alone are scored, and `problem` says so. No set depends on the reranker.
    """

    def __init__(self, vectors: TokenVectors, calibration: Calibration) -> None:
        self._vectors = vectors
        self._calibration = calibration

    async def score(
        self, question: str, candidates: Sequence[Candidate], *, among: Sequence[Candidate]
    ) -> Scoring:
        """In the order given. `among` are the candidates that they are compared with."""
        if not candidates:
            return Scoring([])
        pool = pooled(candidates, among)
        problem = ""
        try:
            asked = read_question(question, await self._vectors.question(question))
            vectors: Sequence[PassageVectors | None] = await self._vectors.passages(
                [candidate.chunk for candidate in pool]
            )
        except ServiceError as error:
            asked, vectors = read_question(question), [None] * len(pool)
            problem = f"scored without token vectors: {error.message}"
        found = await asyncio.to_thread(read_passages, asked, pool, vectors)
        asked_for = list(zip(pool, found, vectors, strict=True))[: len(candidates)]
        return Scoring([self._passage(*one) for one in asked_for], problem)

    def _passage(
        self, candidate: Candidate, found: list[ReadSentence], vectors: PassageVectors | None
    ) -> ScoredPassage:
        model = self._calibration.answers.get(feature_set(candidate, vectors))
        return ScoredPassage(
            candidate,
            model,
            [
                ScoredSentence(sentence, model.probability(signs) if model else None, signs)
                for sentence, signs in found
                if sentence.eligible and not is_instruction(sentence.text)
            ],
        )


def feature_set(candidate: Candidate, vectors: PassageVectors | None) -> str:
    if vectors is None:
        return "words"
    return "web" if candidate.url else "full"
