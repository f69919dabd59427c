"""Which tokens of a question carry meaning: those of its words, also of one that is very long."""

import time

import numpy as np
import pytest

from graph.adapters.question_signs import read_question
from ingest.ports import Encoded

QUESTION = "What is the price, in total?"


def encoded(text: str, *spans: tuple[int, int]) -> Encoded:
    rows = np.eye(len(spans), 384, dtype=np.float32)
    return Encoded(rows[0], rows, np.array(spans, dtype=np.int32))


def test_words_of_meaning_carry_it_and_the_stop_after_one() -> None:
    words = ["What", "is", "the", "price", ",", "in", "total", "?"]
    starts = [QUESTION.index(word) for word in words]
    spans = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
    asked = read_question(QUESTION, encoded(QUESTION, *spans))
    assert asked.tokens is not None
    kept = [
        word for n, word in enumerate(words) if (asked.tokens @ np.eye(len(words), 384)[n]).any()
    ]
    assert kept == ["price", ",", "total", "?"]


@pytest.mark.parametrize("text", ["x7" * 2_000, "退款需要" * 1_000, "?!" * 2_000, "1" * 4_000])
def test_a_question_without_blanks_is_read_in_time(text: str) -> None:
    spans = [(n, n + 2) for n in range(0, len(text), 2)]
    begun = time.process_time()
    read_question(text, encoded(text, *spans))
    assert time.process_time() - begun < 0.5
