"""Orders made of several scores: the arithmetic by hand, and what holds for any scores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.fusion import best_first, blend, min_max, rrf

KEYS = st.sampled_from("abcdefgh")
SCORES = st.dictionaries(KEYS, st.floats(-1e6, 1e6, allow_subnormal=False), max_size=8)
RANKING = st.lists(KEYS, unique=True, max_size=8)


def test_rrf_by_hand() -> None:
    fused = rrf([["a", "x", "b", "y", "z"], ["x", "b", "y", "z", "a"]])
    assert fused["a"] == pytest.approx(1 / 61 + 1 / 65)
    assert fused["a"] == pytest.approx(0.031778, abs=1e-6)
    assert fused["b"] == pytest.approx(1 / 63 + 1 / 62)
    assert fused["b"] == pytest.approx(0.032002, abs=1e-6)
    assert best_first(fused).index("b") < best_first(fused).index("a")


def test_rrf_counts_a_missing_rank_as_nothing() -> None:
    assert rrf([["a"], []]) == {"a": pytest.approx(1 / 61)}
    assert rrf([]) == {}


def test_weighted_rrf_by_hand() -> None:
    fused = rrf([["a", "b"], ["b", "a"]], weights=[3, 1])
    assert fused["a"] == pytest.approx(1.5 / 61 + 0.5 / 62)
    assert fused["b"] == pytest.approx(1.5 / 62 + 0.5 / 61)
    assert rrf([["a", "b"], ["b"]], weights=[0, 1]) == {"a": 0, "b": pytest.approx(2 / 61)}


@given(st.lists(RANKING, min_size=1, max_size=4), st.floats(0.01, 10))
def test_equal_weights_are_none(rankings: list[list[str]], weight: float) -> None:
    assert rrf(rankings, weights=[weight] * len(rankings)) == pytest.approx(rrf(rankings))


def test_min_max_stretches_over_the_set() -> None:
    assert min_max({"a": -1.0, "b": 1.0, "c": 0.0}) == {"a": 0.0, "b": 1.0, "c": 0.5}
    assert min_max({"a": 3.0, "b": 3.0}) == {"a": 0.0, "b": 0.0}
    assert min_max({}) == {}


def test_blend_by_hand() -> None:
    dense = {"a": 0.9, "b": 0.5, "c": 0.1}
    bm25 = {"a": 0.0, "b": 8.0, "c": 4.0}
    assert blend([(0.5, dense), (0.5, bm25)]) == pytest.approx({"a": 0.5, "b": 0.75, "c": 0.25})
    assert blend([(0.75, dense), (0.25, bm25)]) == pytest.approx(
        {"a": 0.75, "b": 0.625, "c": 0.125}
    )


def test_weights_need_not_sum_to_one() -> None:
    dense, bm25 = {"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}
    assert blend([(2, dense), (6, bm25)]) == pytest.approx({"a": 0.25, "b": 0.75})


def test_a_key_missing_from_a_part_counts_nothing_there() -> None:
    assert blend([(1, {"a": 1.0, "b": 0.0}), (1, {"c": 1.0, "b": 0.0})]) == {
        "a": 0.5,
        "b": 0.0,
        "c": 0.5,
    }


def test_equal_scores_come_by_key() -> None:
    assert best_first({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]


@given(st.lists(RANKING, max_size=4))
def test_rrf_is_bounded_and_does_not_care_for_the_order_of_rankings(
    rankings: list[list[str]],
) -> None:
    fused = rrf(rankings)
    assert set(fused) == {key for ranking in rankings for key in ranking}
    assert all(0 < score <= len(rankings) / 61 + 1e-12 for score in fused.values())
    assert rrf(rankings[::-1]) == pytest.approx(fused)


@given(RANKING.filter(bool))
def test_rrf_of_one_ranking_keeps_its_order(ranking: list[str]) -> None:
    assert best_first(rrf([ranking])) == ranking


@given(st.lists(st.tuples(st.floats(0.01, 10), SCORES), min_size=1, max_size=4))
def test_blend_is_in_the_unit_interval_and_does_not_care_for_the_order_of_parts(
    parts: list[tuple[float, dict[str, float]]],
) -> None:
    fused = blend(parts)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())
    assert blend(parts[::-1]) == pytest.approx(fused)


@given(SCORES, st.permutations("abcdefgh"))
def test_an_order_does_not_depend_on_insertion(scores: dict[str, float], order: list[str]) -> None:
    shuffled = {key: scores[key] for key in order if key in scores}
    assert best_first(shuffled) == best_first(scores)
    assert min_max(shuffled) == min_max(scores)
