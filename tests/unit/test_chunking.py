"""Precision, recall and IoU of what is handed over, by hand and against sets of places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.chunking import Span, as_document, excerpts_of, measured
from eval.datasets import Question

SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 20), st.integers(1, 9)).map(
        lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
    ),
    max_size=5,
)


def test_by_hand() -> None:
    """10 of the 20 wanted were handed over, in 40 of which 10 are a second time."""
    found = measured([("a", 10, 30), ("a", 20, 30), ("b", 0, 10)], [("a", 20, 40)])
    assert found == {"precision": 10 / 40, "recall": 10 / 20, "IoU": 10 / 50}


def test_nothing_handed_over_is_worth_nothing() -> None:
    assert measured([], [("a", 0, 5)]) == {"precision": 0.0, "recall": 0.0, "IoU": 0.0}


@given(SPANS, SPANS.filter(bool))
def test_against_sets_of_places(handed: list[Span], wanted: list[Span]) -> None:
    texts = {name: "".join(chr(100 + n) for n in range(40)) for name in "ab"}
    quotes = [(name, texts[name][start:end]) for name, start, end in wanted]
    excerpts = excerpts_of(Question("q", "?", {}, quotes=quotes), texts)

    def places(spans: list[Span]) -> list[tuple[str, int]]:
        return [(name, n) for name, start, end in spans for n in range(start, end)]

    want, got = set(places(wanted)), places(handed)
    met = len(want & set(got))
    assert measured(handed, excerpts) == pytest.approx(
        {
            "precision": met / max(1, len(got)),
            "recall": met / len(want),
            "IoU": met / (len(got) + len(want) - met),
        }
    )


def test_the_offsets_are_those_of_the_text() -> None:
    text = " = Games = \n\n One line . \n Another . \n\n = = Plot = = \n It begins . \n"
    found = as_document("wiki_texts.md", text, headings=True)
    assert (found.text, found.title) == (text, "wiki texts")
    assert [(b.kind, b.level, text[b.start : b.end]) for b in found.blocks] == [
        ("heading", 1, "Games"),
        ("paragraph", 0, " One line . \n Another ."),
        ("heading", 2, "Plot"),
        ("paragraph", 0, " It begins ."),
    ]
    plain = as_document("wiki_texts.md", text, headings=False)
    assert {block.kind for block in plain.blocks} == {"paragraph"}
