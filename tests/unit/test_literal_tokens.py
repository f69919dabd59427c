"""Codes, names and numbers survive a rewrite, whatever it makes of the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.literal_tokens import is_lookup, kept_words, lost_words


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("What does PROJ-123 say of 45 days?", ["PROJ-123", "45"]),
        ("Does open() call getUserName or Shard::load?", ["open", "getUserName", "Shard::load"]),
        ("Is hardware returned after thirty days?", ["thirty days"]),
        ("30 or 300 days?", ["30", "300"]),
        ("Gilt das nach dreißig Tagen?", ["dreißig Tagen"]),
        ("¿Vale después de treinta días?", ["treinta días"]),
        ("Once the order came, which one is mine?", []),
    ],
)
def test_what_must_be_kept(question: str, kept: list[str]) -> None:
    assert kept_words(question) == kept


@pytest.mark.parametrize(
    ("question", "rewrite", "lost"),
    [
        ("Return after thirty days?", "return period 30 days", []),
        ("Return after thirty days?", "return period", ["thirty days"]),
        ("Return after 30 days?", "return period 300 days", ["30"]),
        ("Fix E-4102 on the V2a", "fix e-4102", ["V2a"]),
    ],
)
def test_what_a_rewrite_lost(question: str, rewrite: str, lost: list[str]) -> None:
    assert lost_words(question, rewrite) == lost


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_is_lost_once_it_was_put_back(question: str, rewrite: str) -> None:
    mended = " ".join([rewrite, *lost_words(question, rewrite)])
    assert lost_words(question, mended) == []


@pytest.mark.parametrize("text", ["PROJ-123", "refunds", "error E-4102", "sync.retry_max?", "VPN"])
def test_lookups(text: str) -> None:
    assert is_lookup(text)


@pytest.mark.parametrize(
    "text", ["", "What is E-4102?", "refund deadline", "why", "Yes, B1 please"]
)
def test_questions_are_no_lookups(text: str) -> None:
    assert not is_lookup(text)
