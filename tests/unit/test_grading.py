"""The calibrated grader: three verdicts, and ambiguous at best where it was not calibrated."""

from collections.abc import Sequence
from typing import Any

import pytest

from graph.adapters.answer_scorer import AnswerScorer
from graph.adapters.calibration import AnswerModel, Calibration
from graph.adapters.grading import CalibratedGrader
from graph.adapters.token_vectors import TokenVectors
from ingest.errors import DependencyError
from ingest.ports import Encoded
from nodes.findings import Verdict
from nodes.ports import GradedPassages
from tests.fakes import HashingEmbedder, a_candidate
from tests.unit.test_extractive import COVERAGE, QUESTION

GOOD = a_candidate("a", "Refunds take five days.")
BAD = a_candidate("b", "Parking costs nothing for 5 days.")
ALL = {"full": COVERAGE, "web": COVERAGE, "words": COVERAGE}


class DownEmbedder(HashingEmbedder):
    async def encode(self, texts: Sequence[str], **how: Any) -> list[Encoded]:
        raise DependencyError("model down")


def a_grader(
    embedder: HashingEmbedder,
    answers: dict[str, AnswerModel] | None = None,
    *,
    calibrated: bool = True,
) -> CalibratedGrader:
    calibration = Calibration("1", "hashing", ALL if answers is None else answers)
    scorer = AnswerScorer(TokenVectors(embedder, megabytes=1), calibration)
    return CalibratedGrader(scorer, calibrated=calibrated)


async def graded(
    grader: CalibratedGrader, upper: float | None = None, lower: float | None = None
) -> GradedPassages:
    return await grader.grade(QUESTION, [GOOD, BAD], among=[], upper=upper, lower=lower)


def verdicts(found: GradedPassages) -> list[str | None]:
    return [grade.verdict if grade else None for grade in found.grades]


async def test_a_grade_for_each_passage_in_order(embedder: HashingEmbedder) -> None:
    found = await graded(a_grader(embedder))
    assert verdicts(found) == ["correct", "incorrect"]
    assert all(g and g.probability is not None and 0 <= g.probability <= 1 for g in found.grades)
    assert found.degraded == ""


async def test_nothing_to_grade_is_no_grade(embedder: HashingEmbedder) -> None:
    found = await a_grader(embedder).grade(QUESTION, [], among=[], upper=None, lower=None)
    assert found.grades == []


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        (1.0, None, ["ambiguous", "incorrect"]),
        (1.0, 1.0, ["incorrect", "incorrect"]),
        (1.0, 0.0, ["ambiguous", "ambiguous"]),
        (0.0, 0.0, ["correct", "correct"]),
        (None, 1.0, ["incorrect", "incorrect"]),
        (0.0, 1.0, ["incorrect", "incorrect"]),
    ],
)
async def test_given_thresholds_replace_those_of_the_calibration(
    embedder: HashingEmbedder, upper: float | None, lower: float | None, expected: list[Verdict]
) -> None:
    assert verdicts(await graded(a_grader(embedder), upper, lower)) == expected


async def test_another_embedder_is_ambiguous_at_best_and_says_so(embedder: HashingEmbedder) -> None:
    found = await graded(a_grader(embedder, calibrated=False), 0.0, 0.0)
    assert "correct" not in verdicts(found)
    assert "ambiguous at best" in found.degraded


async def test_a_set_that_is_missing_is_ambiguous_at_best_and_says_so(
    embedder: HashingEmbedder,
) -> None:
    found = await graded(a_grader(embedder, {}))
    assert verdicts(found) == ["ambiguous", "ambiguous"]
    assert "ambiguous at best" in found.degraded


async def test_without_token_vectors_the_words_are_judged_and_it_says_so() -> None:
    embedder = DownEmbedder()
    found = await graded(a_grader(embedder))
    assert verdicts(found) == ["correct", "incorrect"]
    assert "model down" in found.degraded
    embedder.close()
