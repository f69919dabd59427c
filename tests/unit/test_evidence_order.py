"""The order of the evidence: what counts as correct first, then grade and reranker together."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Candidate, Chunk
from nodes.findings import Evidence, Grade
from nodes.grade_documents import _best_first

UNIT = st.floats(0, 1, allow_nan=False)


def evidence(name: str, verdict: str, probability: float | None, near: float) -> Evidence:
    chunk = Chunk(name, "d", "r", 0, "text", 0, 4, "Title")
    grade = Grade(verdict, probability, {})  # type: ignore[arg-type]
    return Evidence(Candidate(chunk, {"rerank": near}), grade, 0)


def order(*found: Evidence) -> list[str]:
    return [one.candidate.chunk.chunk_id for one in sorted(found, key=_best_first)]


@given(UNIT, UNIT, UNIT, UNIT)
def test_a_correct_passage_is_ahead_of_an_ambiguous_one(p: float, q: float, r: float, s: float):
    assert order(evidence("a", "ambiguous", p, r), evidence("b", "correct", q, s)) == ["b", "a"]


@given(UNIT, UNIT, UNIT)
def test_of_equal_grades_the_reranker_decides(p: float, r: float, s: float):
    first = "a" if r >= s else "b"
    found = order(evidence("b", "correct", p, s), evidence("a", "correct", p, r))
    assert found[0] == first or abs(r - s) < 1e-9


@given(UNIT, UNIT, UNIT)
def test_of_equal_places_the_grade_decides(p: float, q: float, r: float):
    clear = abs(p - q) > 1e-3
    found = order(evidence("a", "correct", p, r), evidence("b", "correct", q, r))
    assert not clear or found[0] == ("a" if p > q else "b")


def test_a_much_better_grade_beats_the_reranker_and_a_little_better_one_does_not():
    far = order(evidence("a", "correct", 0.99, 0.2), evidence("b", "correct", 0.4, 1.0))
    near = order(evidence("a", "correct", 0.5, 0.2), evidence("b", "correct", 0.4, 1.0))
    assert (far[0], near[0]) == ("a", "b")


def test_no_probability_and_no_reranker_still_have_a_place():
    chunk = Chunk("c", "d", "r", 0, "text", 0, 4, "Title")
    bare = Evidence(Candidate(chunk, {}), Grade("correct", None, {}), 0)
    assert order(bare, evidence("a", "correct", 0.5, 0.5)) == ["a", "c"]
