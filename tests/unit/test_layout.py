"""Marks of a document's layout are not told; what only looks like one stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.layout import row_name, unmarked


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("3. Taxis only after 22:00.", "Taxis only after 22:00."),
        ("(12) Taxis only.", "Taxis only."),
        ("b) Taxis only.", "Taxis only."),
        ("- Unopened goods are refunded.", "Unopened goods are refunded."),
        ("- [x] 5 days are paid.", "5 days are paid."),
        ("• **Batch release**: goods may be sold.", "Batch release: goods may be sold."),
        ("## > 2. Payment", "Payment"),
        ("Plan: Team | Price: EUR 49 | Seats: 20", "Plan: Team; Price: EUR 49; Seats: 20"),
        ("| Team | EUR 49 |", "Team; EUR 49"),
    ],
)
def test_marks_of_layout_are_not_told(text: str, told: str) -> None:
    assert unmarked(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "14. März ist ein Feiertag.",
        "2. Stock, links vom Aufzug.",
        "2026. That was the year.",
        "+ 49 341 555 is the number.",
        "-5 °C is the least.",
        "A. Smith signs.",
        "#42 is open.",
        "Run ps aux | grep qbridge first.",
        "Run `a | b` first.",
        "3.",
        "2 ** 3 is 8, and 2 ** 4 is 16.",
        "|x| is never negative.",
    ],
)
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    assert unmarked(text) == text


@given(st.text(alphabet="ab1.)-*|#> `[x]+", max_size=60))
def test_words_stay_in_order_and_nothing_becomes_empty(text: str) -> None:
    told = unmarked(text)
    assert unmarked(told) == told or told.count("*") < text.count("*")
    assert bool(told.strip()) == bool(text.strip())
    letters = "".join(c for c in text if c in "ab")
    assert letters.endswith("".join(c for c in told if c in "ab"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Bike: Cargo bike | Per day: 39 €", "Cargo bike"),
        ("Cargo bike | 39 €", "Cargo bike"),
        ("| Cargo bike | 39 € |", "Cargo bike"),
        ("A cargo bike is 39 € a day.", ""),
        ("cat access.log | grep bike", ""),
    ],
)
def test_a_row_is_named_by_its_first_cell(text: str, name: str) -> None:
    assert row_name(text) == name
