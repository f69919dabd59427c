"""What the benchmark of strips counts, by hand."""

from dataclasses import replace

import pytest

from eval.benchmarks.strips import counted
from eval.golden import GoldenQuestion
from nodes.findings import Evidence, Stated
from tests.fakes import a_candidate, a_grade


@pytest.mark.parametrize(("answer", "lost"), [("5 days", 0), ("closed", 1)])
def test_counts_text_strips_and_lost_answers(answer: str, lost: int) -> None:
    text = "Refunds take 5 days.\nThe canteen is closed."
    grade = replace(a_grade("correct"), sentences=[Stated(0, 20, 0.9), Stated(21, 43, 0.1)])
    question = GoldenQuestion.model_validate(
        {
            "id": "q",
            "knowledge_base": "kb",
            "question": "How long?",
            "answerable": True,
            "relevant": [{"document": "a.md", "quote": text[:20]}],
            "must_contain": [answer],
        }
    )
    found = counted([(question, [Evidence(a_candidate("a", text), grade, 0)])])
    assert (found.strips, found.dropped) == (2, 1)
    assert found.text == 20 / 43
    assert (found.answers, found.answers_lost) == (1, lost)
