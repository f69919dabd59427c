"""How probable it is that each sentence of a passage states what a question asks for."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graph.adapters.calibration import AnswerModel, Calibration
from graph.adapters.passage_signs import Signs, vector_signs, word_signs
from graph.adapters.question_signs import AskedQuestion, read_question
from graph.adapters.sentence_signs import SentenceSigns, sentence_signs
from graph.adapters.token_vectors import PassageVectors, TokenVectors
from ingest.documents import Candidate
from ingest.errors import ServiceError


@dataclass(frozen=True)
class ScoredSentence:
    """`probability` is None where no model was fitted for what is known of the passage."""

    sentence: SentenceSigns
    probability: float | None
    signs: Signs


@dataclass(frozen=True)
class ScoredPassage:
    """The sentences that may answer, in order, and the model that judged them."""

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

    async def score(self, question: str, candidates: Sequence[Candidate]) -> Scoring:
        problem = ""
        try:
            asked = read_question(question, await self._vectors.question(question))
            vectors: Sequence[PassageVectors | None] = await self._vectors.passages(
                [candidate.chunk for candidate in candidates]
            )
        except ServiceError as error:
            asked, vectors = read_question(question), [None] * len(candidates)
            problem = f"scored without token vectors: {error.message}"
        passages = await asyncio.to_thread(
            lambda: [
                self._passage(asked, candidate, passage)
                for candidate, passage in zip(candidates, vectors, strict=True)
            ]
        )
        return Scoring(passages, problem)

    def _passage(
        self, question: AskedQuestion, candidate: Candidate, vectors: PassageVectors | None
    ) -> ScoredPassage:
        model = self._calibration.answers.get(feature_set(candidate, vectors))
        found = all_signs(question, candidate, vectors)
        return ScoredPassage(
            candidate,
            model,
            [
                ScoredSentence(sentence, model.probability(signs) if model else None, signs)
                for sentence, signs in found
                if sentence.eligible
            ],
        )


def all_signs(
    question: AskedQuestion, candidate: Candidate, vectors: PassageVectors | None
) -> list[tuple[SentenceSigns, Signs]]:
    """Each sentence with its own signs and, as `passage_…`, those of its passage."""
    sentences = sentence_signs(question, candidate.chunk, vectors)
    whole = word_signs(question, candidate)
    if vectors is not None:
        whole |= vector_signs(question, vectors, sentences)
    shared = {f"passage_{name}": value for name, value in whole.items()}
    return [(sentence, sentence.signs | shared) for sentence in sentences]


def feature_set(candidate: Candidate, vectors: PassageVectors | None) -> str:
    if vectors is None:
        return "words"
    return "web" if candidate.url else "full"
