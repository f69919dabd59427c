"""The shipped golden set is as large and as mixed as its users are told."""

from collections import Counter
from pathlib import Path

import pytest

from eval.golden import GoldenQuestion, load_golden_set
from eval.labels import holds_quote, holds_words

ROOT = Path(__file__).parents[2]
HANDBOOK = ROOT / "examples" / "handbook"
TAGS = set(
    "lookup multi_hop follow_up outdated paraphrase exact_token other_language unanswerable "
    "near_miss".split()
)


@pytest.fixture(scope="module")
def questions() -> list[GoldenQuestion]:
    return load_golden_set(ROOT / "eval" / "golden" / "handbook.jsonl")


def test_it_has_enough_questions_of_every_kind(questions: list[GoldenQuestion]) -> None:
    tags = Counter(tag for question in questions for tag in question.tags)
    assert len(questions) >= 120
    assert set(tags) == TAGS
    assert min(tags.values()) >= 8


def test_a_third_is_not_answerable(questions: list[GoldenQuestion]) -> None:
    assert 3 * sum(not question.answerable for question in questions) >= len(questions)


def test_precision_at_5_can_reach_1_on_forty(questions: list[GoldenQuestion]) -> None:
    assert sum(len(question.relevant) >= 5 for question in questions) >= 40


def test_both_splits_hold_every_kind(questions: list[GoldenQuestion]) -> None:
    for split in ("dev", "test"):
        own = [question for question in questions if question.split == split]
        assert len(own) >= len(questions) / 3
        assert {tag for question in own for tag in question.tags} == TAGS, split


def test_every_unanswerable_question_says_why(questions: list[GoldenQuestion]) -> None:
    for question in questions:
        assert question.answerable != bool({"unanswerable", "near_miss"} & set(question.tags))


def test_what_a_right_answer_holds_stands_in_a_label(questions: list[GoldenQuestion]) -> None:
    """Otherwise no answer from the documents could be right."""
    for question in questions:
        quotes = " | ".join(label.quote for label in question.relevant)
        missing = [text for text in question.must_contain if not holds_words(quotes, text)]
        assert not missing, (question.id, missing)


def test_labels_stand_in_the_files_they_name(questions: list[GoldenQuestion]) -> None:
    for label in (label for question in questions for label in question.relevant):
        file = HANDBOOK / label.document
        assert file.is_file(), label.document
        if file.suffix == ".md" and "|" not in label.quote:
            assert holds_quote(file.read_text(encoding="utf-8"), label.quote), label
