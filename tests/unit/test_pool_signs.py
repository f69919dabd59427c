"""Leads: how far a passage stands above the best of the others, and never further than HIGHEST."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.adapters.pool_signs import FEWEST, HIGHEST, LED, POOL, pooled, read_passages
from graph.adapters.question_signs import read_question
from ingest.documents import Candidate
from ingest.passage_vectors import PassageVectors, compressed
from ingest.ports import Encoded
from tests.fakes import a_candidate, word_vector

QUESTION = read_question("How long do refunds take?")
COSINES = st.floats(-1, 1, allow_nan=False)


def passages(*dense: float) -> list[Candidate]:
    return [a_candidate(str(n), dense=value) for n, value in enumerate(dense)]


def leads(*dense: float) -> list[float]:
    """The lead in `dense` of each passage, in order; it is the same for each of its sentences."""
    found = read_passages(QUESTION, passages(*dense), [None] * len(dense))
    by_passage = [{signs["passage_dense_lead"] for _, signs in read} for read in found]
    assert all(len(values) == 1 for values in by_passage)
    return [values.pop() for values in by_passage]


def ids(found: list[Candidate]) -> list[str]:
    return [candidate.chunk.chunk_id for candidate in found]


def test_the_candidates_come_first_and_nothing_twice() -> None:
    first, second, other = (a_candidate(name) for name in "abc")
    assert ids(pooled([second, first], [first, other, second, other])) == ["b", "a", "c"]
    assert ids(pooled([first], [])) == ["a"]
    assert ids(pooled([], [other])) == ["c"]


def test_the_candidate_is_kept_where_another_has_its_id() -> None:
    mine, same = a_candidate("a", dense=0.9), a_candidate("a", dense=0.1)
    assert pooled([mine], [same]) == [mine]


def test_at_most_the_first_of_the_others_are_added() -> None:
    candidates = [a_candidate(f"candidate-{n}") for n in range(POOL + 3)]
    others = [a_candidate(f"other-{n}") for n in range(POOL + 3)]
    assert pooled(candidates, others) == [*candidates, *others[:POOL]]
    assert pooled(candidates[:1], others) == [*candidates[:1], *others[:POOL]]


@pytest.mark.parametrize("others", range(FEWEST))
def test_among_too_few_others_nothing_leads(others: int) -> None:
    assert leads(0.9, *[0.1] * others) == [0.0] * (others + 1)


def test_the_best_leads_by_what_it_has_over_the_best_other() -> None:
    assert leads(0.5, 0.55, 0.4, 0.3) == pytest.approx([-0.05, 0.05, -0.15, -0.25])
    assert leads(0.5, 0.5, 0.4, 0.3) == pytest.approx([0.0, 0.0, -0.1, -0.2])


def test_a_lead_is_capped() -> None:
    assert leads(0.1, 0.9, 0.1, 0.1)[1] == HIGHEST


@given(st.lists(COSINES, min_size=FEWEST + 1, max_size=8))
def test_one_leads_and_all_others_follow(dense: list[float]) -> None:
    found = leads(*dense)
    order = sorted(range(len(dense)), key=lambda n: dense[n], reverse=True)
    best, second = order[:2]
    assert found[best] == min(dense[best] - dense[second], HIGHEST) >= 0
    assert all(found[n] == dense[n] - dense[best] <= 0 for n in order[1:])


@given(
    st.lists(st.tuples(COSINES, st.lists(st.sampled_from("abcdefgh"), max_size=6)), max_size=7),
    st.booleans(),
)
def test_a_lead_is_finite_and_bounded(rows: list[tuple[float, list[str]]], asked: bool) -> None:
    """With token vectors, also of passages and questions that have none."""
    tokens = np.stack([word_vector("a"), word_vector("b")])[: 2 if asked else 0]
    question = replace(QUESTION, sentence=word_vector("a"), tokens=tokens)
    pool = passages(*(value for value, _ in rows))
    found = read_passages(question, pool, [vectors(words) for _, words in rows])
    assert len(found) == len(pool)
    for read in found:
        assert read
        for _, signs in read:
            values = [signs[f"{name}_lead"] for name in LED]
            assert all(math.isfinite(value) and value <= HIGHEST for value in values)


def vectors(words: list[str]) -> PassageVectors:
    """One token for each word, at consecutive code points."""
    rows = np.asarray([word_vector(word) for word in words], np.float32).reshape(len(words), 384)
    offsets = np.asarray([(n, n + 1) for n in range(len(words))], dtype=np.int32).reshape(-1, 2)
    chunk = a_candidate("vectors").chunk
    shift = len(chunk.embedded_text) - len(chunk.text)
    return compressed(Encoded(word_vector(""), rows, offsets + shift), chunk)
