"""Retrieval metrics against numbers worked out by hand."""

import math

import pytest

from eval.datasets import Question
from eval.retrieval import Ranked, retrieval_values


def value(name: str, documents: list[str], relevant: dict[str, int]) -> float:
    ranked = Ranked(Question("q", "which?", relevant), documents, 1.0)
    return retrieval_values([ranked])[name][0]


def test_ndcg_of_one_relevant_document_is_its_discount() -> None:
    assert value("nDCG@10", ["a", "b"], {"a": 1}) == 1.0
    assert value("nDCG@10", ["b", "a"], {"a": 1}) == pytest.approx(1 / math.log2(3))
    assert value("nDCG@10", ["b", "c", "a"], {"a": 1}) == pytest.approx(0.5)


def test_ndcg_weighs_gains_against_the_best_order() -> None:
    # gains 1, 0, 2: 1 + 2/2 = 2; best 2, 1: 2 + 1/1.58496 = 2.63093
    found = value("nDCG@10", ["low", "none", "high"], {"high": 2, "low": 1})
    assert found == pytest.approx(2 / 2.63093, abs=1e-5)


def test_ndcg_looks_no_deeper_than_k() -> None:
    documents = [f"d{n}" for n in range(10)] + ["a"]
    assert value("nDCG@10", documents, {"a": 1}) == 0.0


def test_the_ideal_order_has_no_more_than_k_documents() -> None:
    relevant = {f"d{n}": 1 for n in range(20)}
    assert value("nDCG@10", [f"d{n}" for n in range(10)], relevant) == 1.0


def test_a_question_without_a_document_is_0() -> None:
    found = Ranked(Question("q1", "which?", {"a": 1}), ["a"], 1.0)
    lost = Ranked(Question("q2", "which?", {"a": 1}), [], 1.0)
    assert retrieval_values([lost, found])["nDCG@10"] == [0.0, 1.0]


def test_hit_asks_for_any_relevant_one_of_the_first_k() -> None:
    assert value("hit@1", ["b", "a"], {"a": 1}) == 0.0
    assert value("hit@3", ["b", "a"], {"a": 1, "z": 1}) == 1.0


def test_recall_is_the_share_of_the_relevant_that_was_found() -> None:
    assert value("R@5", ["a", "x", "b"], {"a": 1, "b": 2, "c": 1}) == pytest.approx(2 / 3)
    assert value("R@3", ["x", "y", "a", "b"], {"a": 1, "b": 2}) == pytest.approx(1 / 2)


def test_precision_divides_by_k_however_few_were_found() -> None:
    assert value("P@3", ["a"], {"a": 1}) == pytest.approx(1 / 3)
