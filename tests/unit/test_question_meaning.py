"""Two questions have one meaning only where nothing but their wording differs."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.question_meaning import meaning, normalised

PAIRS = Path(__file__).parents[1] / "data" / "cache_pairs.jsonl"


def pairs(*, same: bool) -> list[Any]:
    rows = [row for row in map(json.loads, PAIRS.read_text().splitlines()) if row["same"] is same]
    return [pytest.param(row["one"], row["other"], id=row["id"]) for row in rows]


@pytest.mark.parametrize(("one", "other"), pairs(same=False))
def test_a_near_miss_means_something_else(one: str, other: str) -> None:
    assert meaning(one) != meaning(other)


def test_half_of_the_paraphrases_are_found() -> None:
    found = [meaning(one) == meaning(other) for one, other in (p.values for p in pairs(same=True))]
    assert sum(found) * 2 >= len(found)


@given(st.text(max_size=60))
def test_case_blanks_and_end_marks_change_no_meaning(text: str) -> None:
    assert meaning(f"  {normalised(text)} ?") == meaning(normalised(text))


WORDS = st.sampled_from(
    "plan refund not before after invoice customer manager 14 15 days on off with without".split()
)


@given(st.lists(WORDS, min_size=2, max_size=6, unique=True), st.data())
def test_another_order_or_another_word_is_another_meaning(words: list[str], data: Any) -> None:
    question = f"Does the {' '.join(words)}?"
    other = data.draw(st.permutations(words)) if data.draw(st.booleans()) else words[:-1]
    if other != words:
        assert meaning(question) != meaning(f"Does the {' '.join(other)}?")


def test_an_acronym_is_not_the_word_it_is_spelled_like() -> None:
    assert meaning("What does the IT team do?") != meaning("What does the it team do?")
    assert meaning("How does the VPN work?") == meaning("how does the vpn work")
