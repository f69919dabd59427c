"""Retrieval metrics against numbers worked out by hand."""

import math

import pytest

from eval.retrieval import hit, ndcg, recall


def test_ndcg_of_one_relevant_document_is_its_discount() -> None:
    assert ndcg(["a", "b"], {"a": 1}) == 1.0
    assert ndcg(["b", "a"], {"a": 1}) == pytest.approx(1 / math.log2(3))
    assert ndcg(["b", "c", "a"], {"a": 1}) == pytest.approx(0.5)


def test_ndcg_weighs_gains_against_the_best_order() -> None:
    # gains 1, 0, 2: 1 + 2/2 = 2; best 2, 1: 2 + 1/1.58496 = 2.63093
    found = ndcg(["low", "none", "high"], {"high": 2, "low": 1})
    assert found == pytest.approx(2 / 2.63093, abs=1e-5)


def test_ndcg_looks_no_deeper_than_k() -> None:
    documents = [f"d{n}" for n in range(10)] + ["a"]
    assert ndcg(documents, {"a": 1}) == 0.0
    assert ndcg(documents, {"a": 1}, k=11) == pytest.approx(1 / math.log2(12))


def test_the_ideal_order_has_no_more_than_k_documents() -> None:
    relevant = {f"d{n}": 1 for n in range(20)}
    assert ndcg([f"d{n}" for n in range(10)], relevant) == 1.0


def test_ndcg_is_0_where_nothing_is_relevant_or_found() -> None:
    assert ndcg(["a"], {}) == 0.0
    assert ndcg([], {"a": 1}) == 0.0


def test_hit_asks_for_any_relevant_one_of_the_first_k() -> None:
    assert hit(["b", "a"], {"a": 1}, 1) == 0.0
    assert hit(["b", "a"], {"a": 1, "z": 1}, 2) == 1.0


def test_recall_is_the_share_of_the_relevant_that_was_found() -> None:
    assert recall(["a", "x", "b"], {"a": 1, "b": 2, "c": 1}, 5) == pytest.approx(2 / 3)
    assert recall(["a", "x", "b"], {"a": 1, "b": 2, "c": 1}, 2) == pytest.approx(1 / 3)
    assert recall(["a"], {}, 5) == 0.0
