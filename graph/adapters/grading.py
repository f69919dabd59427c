"""The default grader: calibrated logistic models over signs, no chat model."""

import asyncio
from collections.abc import Sequence

from graph.adapters.calibration import Calibration, GraderModel
from graph.adapters.passage_signs import Signs, vector_signs, word_signs
from graph.adapters.question_signs import AskedQuestion, read_question
from graph.adapters.sentence_signs import sentence_signs
from graph.adapters.token_vectors import PassageVectors, TokenVectors
from ingest.documents import Candidate
from ingest.errors import ServiceError
from nodes.ports import GradedPassages
from nodes.state import Grade, Verdict


class CalibratedGrader:
    """Probabilities that a passage contains what answers the question.

    Passages from the index are judged by the set `full`, web ones by `web`; where the token
    vectors fail, by `without_rerank`. A set that was fitted for another embedder, or is missing,
    gives ambiguous at best, and says so.
    """

    def __init__(self, vectors: TokenVectors, calibration: Calibration, *, model: str) -> None:
        self._vectors = vectors
        self._calibration = calibration
        self._calibrated = calibration.model == model

    async def grade(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        upper: float | None,
        lower: float | None,
    ) -> GradedPassages:
        problem = "" if self._calibrated else f"no calibration for this model; {_AT_BEST}"
        try:
            asked = read_question(question, await self._vectors.question(question))
            vectors: Sequence[PassageVectors | None] = await self._vectors.passages(
                [candidate.chunk for candidate in candidates]
            )
        except ServiceError as error:
            asked, vectors = read_question(question), [None] * len(candidates)
            problem = problem or f"graded without token vectors: {error.message}"
        grades = await asyncio.to_thread(
            lambda: [
                self._grade(asked, candidate, passage, upper, lower)
                for candidate, passage in zip(candidates, vectors, strict=True)
            ]
        )
        if any(grade.probability is None for grade in grades):
            problem = problem or f"no calibration for these passages; {_AT_BEST}"
        return GradedPassages(list(grades), problem)

    def _grade(
        self,
        question: AskedQuestion,
        candidate: Candidate,
        vectors: PassageVectors | None,
        upper: float | None,
        lower: float | None,
    ) -> Grade:
        model = self._calibration.passages.get(feature_set(candidate, vectors))
        signs = self.signs(question, candidate, vectors)
        if model is None:
            return Grade("ambiguous", None, signs)
        probability = model.probability(signs)
        verdict = verdict_of(probability, model, upper, lower)
        if verdict == "correct" and not self._calibrated:
            verdict = "ambiguous"
        return Grade(verdict, probability, {k: round(v, 4) for k, v in signs.items()})

    def signs(
        self, question: AskedQuestion, candidate: Candidate, vectors: PassageVectors | None
    ) -> Signs:
        """All signs that can be computed for this passage."""
        signs = word_signs(question, candidate)
        if vectors is None:
            return signs
        sentences = sentence_signs(question, candidate.chunk, vectors)
        answers = self._calibration.sentence.log_odds
        return signs | vector_signs(question, vectors, sentences, answers)


_AT_BEST = "passages are ambiguous at best"


def feature_set(candidate: Candidate, vectors: PassageVectors | None) -> str:
    if vectors is None:
        return "without_rerank"
    return "web" if candidate.url else "full"


def verdict_of(
    probability: float, model: GraderModel, upper: float | None, lower: float | None
) -> Verdict:
    """Correct from `upper`, incorrect below `lower`; both may be 0."""
    if probability >= (model.upper if upper is None else upper):
        return "correct"
    if probability < (model.lower if lower is None else lower):
        return "incorrect"
    return "ambiguous"
