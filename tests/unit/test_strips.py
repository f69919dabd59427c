"""Passages are cut into strips; those far below the best of their passage are not read."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingest.sentences import sentence_spans
from nodes.findings import Evidence, Stated
from nodes.strips import LONGEST, refined, strips_of
from tests.fakes import a_candidate, a_grade

TEXT = "One is first. Two is second. Three is third. Four is fourth.\n- An item. Its rest.\nLast."


def found(text: str, **probabilities: float) -> Evidence:
    """Sentences that hold these words have these probabilities."""
    judged = [
        Stated(start, end, p)
        for start, end in sentence_spans(text)
        for word, p in probabilities.items()
        if word in text[start:end]
    ]
    return Evidence(a_candidate("a", text), replace(a_grade("correct"), sentences=judged), 0)


def read(evidence: Evidence) -> list[str]:
    text = evidence.candidate.chunk.text
    return [text[strip.start : strip.end] for strip in evidence.strips or []]


def test_three_sentences_of_a_line_and_each_line_for_itself() -> None:
    assert [TEXT[s.start : s.end] for s in strips_of(TEXT, [])] == [
        "One is first. Two is second. Three is third.",
        "Four is fourth.",
        "- An item. Its rest.",
        "Last.",
    ]


def test_a_strip_is_as_good_as_its_best_sentence_and_the_far_ones_are_dropped() -> None:
    result = refined([found(TEXT, Two=0.9, Four=0.8, item=0.1)])
    assert read(result.evidence[0]) == [
        "One is first. Two is second. Three is third.",
        "Four is fourth.",
    ]
    assert [strip.probability for strip in result.evidence[0].strips or []] == [0.9, 0.8]
    assert (result.kept, result.dropped) == (2, 2)


def test_a_weak_passage_keeps_its_best() -> None:
    assert read(refined([found(TEXT, Last=0.01)]).evidence[0]) == ["Last."]


def test_a_passage_without_judged_sentences_stays_whole() -> None:
    whole = Evidence(a_candidate("a", TEXT), a_grade("correct"), 0)
    assert refined([whole, found(TEXT)]).evidence == [whole, found(TEXT)]


@given(st.text(alphabet="ab. \n-|!", max_size=200), st.floats(0, 1))
def test_strips_are_in_order_do_not_overlap_and_lose_no_sentence(text: str, p: float) -> None:
    spans = sentence_spans(text)
    strips = strips_of(text, [Stated(start, end, p) for start, end in spans])
    assert all(one.end <= other.start for one, other in pairwise(strips))
    inside = [[s for s in spans if t.start <= s[0] and s[1] <= t.end] for t in strips]
    assert [span for group in inside for span in group] == spans
    assert all(1 <= len(group) <= LONGEST for group in inside)
