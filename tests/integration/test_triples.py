"""With the real model the grade tells answering passages from on-topic ones better than cosine."""

from pathlib import Path

import pytest

from eval.benchmarks.triples import pairwise
from eval.statistics import bootstrap_interval
from ingest.ports import Embedder

TRIPLES = Path(__file__).parents[1] / "data" / "answer_triples.jsonl"

AT_LEAST = 0.65
"""Part of the triples in which the answering passage has the higher grade; chance is a half."""

pytestmark = pytest.mark.timeout(300)


async def test_the_grade_is_ahead_of_the_cosine(e5: Embedder) -> None:
    halves = [await pairwise(TRIPLES, e5, frozen=frozen) for frozen in (False, True)]
    grades = [value for half in halves for value in half.grade]
    low, _ = bootstrap_interval([value for half in halves for value in half.gain])
    assert len(grades) == len(TRIPLES.read_text(encoding="utf-8").splitlines())
    assert low > 0
    assert sum(grades) / len(grades) > AT_LEAST
