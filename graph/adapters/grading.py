"""The default grader: a passage is as good as its best sentence that may answer."""

from collections.abc import Sequence
from dataclasses import replace

from graph.adapters.answer_scorer import AnswerScorer, ScoredPassage
from ingest.documents import Candidate
from nodes.findings import Grade, Stated, Verdict
from nodes.named_things import nowhere
from nodes.ports import GradedPassages

AT_BEST = "passages are ambiguous at best"


class CalibratedGrader:
    """Probabilities that a passage states what answers the question, without a chat model.

    `calibrated` is False where the scorer's models were fitted for another embedder. Then, and
    where no model fits the passage, a verdict is ambiguous at best, and `degraded` says so.
    """

    def __init__(self, scorer: AnswerScorer, *, calibrated: bool) -> None:
        self._scorer = scorer
        self._calibrated = calibrated

    async def grade(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        among: Sequence[Candidate],
        upper: float | None,
        lower: float | None,
    ) -> GradedPassages:
        scoring = await self._scorer.score(question, candidates, among=among)
        grades = [self._grade(passage, upper, lower) for passage in scoring.passages]
        if nowhere(question, among):
            grades = [_of_another(grade) for grade in grades]
        return GradedPassages(list(grades), self._problem(scoring.passages) or scoring.problem)

    def _grade(self, passage: ScoredPassage, upper: float | None, lower: float | None) -> Grade:
        if passage.model is None:
            return Grade("ambiguous", None)
        best = passage.best
        if best is None or best.probability is None:
            return Grade("incorrect", 0.0, stated=[])
        verdict = verdict_of(
            best.probability,
            passage.model.upper if upper is None else upper,
            passage.model.lower if lower is None else lower,
        )
        if verdict == "correct" and not self._calibrated:
            verdict = "ambiguous"
        signs = {name: round(value, 4) for name, value in best.signs.items()}
        read = None if verdict == "incorrect" else judged(passage)
        return Grade(verdict, best.probability, signs, tellable(passage, upper), read)

    def _problem(self, passages: Sequence[ScoredPassage]) -> str:
        if not self._calibrated:
            return f"no calibration for this embedder; {AT_BEST}"
        if any(passage.model is None for passage in passages):
            return f"no calibration for these passages; {AT_BEST}"
        return ""


def _of_another(grade: Grade) -> Grade:
    """Of a question that names what no candidate has, such as a person or a product: whatever was
    found is of another one, however near it is."""
    verdict: Verdict = "ambiguous" if grade.verdict == "correct" else grade.verdict
    return replace(grade, verdict=verdict, stated=[])


def tellable(passage: ScoredPassage, upper: float | None = None) -> list[Stated]:
    """All sentences of a passage whose best reaches the `upper` bar of the model that judged it, or
    a lower bar that was asked for: a higher one makes an answer partial, and does not silence it.
    How far below the best one a sentence may be told is the generator's to say."""
    if passage.model is None:
        return []
    bar = passage.model.upper if upper is None else min(upper, passage.model.upper)
    stated = judged(passage)
    return stated if any(one.probability >= bar for one in stated) else []


def judged(passage: ScoredPassage) -> list[Stated]:
    """Every sentence that may state an answer, in order, with its probability."""
    return [
        Stated(scored.sentence.start, scored.sentence.end, scored.probability)
        for scored in passage.sentences
        if scored.probability is not None
    ]


def verdict_of(probability: float, upper: float, lower: float) -> Verdict:
    """Incorrect below `lower`, whatever `upper` says, so that a higher bound always tightens; else
    correct from `upper`. Both may be 0."""
    if probability < lower:
        return "incorrect"
    return "correct" if probability >= upper else "ambiguous"
