"""The trace as a person reads it."""

import io
from typing import Any

import pytest

from graph.trace_view import lines_of, trace_printer


def entry(node: str, summary: dict[str, Any], status: str = "ok") -> dict[str, Any]:
    return {"seq": 7, "node": node, "ms": 12.34, "status": status, "summary": summary}


def texts(node: str, summary: dict[str, Any], status: str = "ok") -> list[str]:
    return [text for text, _ in lines_of(entry(node, summary, status))]


@pytest.mark.parametrize(
    ("node", "summary", "line"),
    [
        ("contextualize_question", {"standalone": "a (b)"}, "read as: a (b)"),
        (
            "check_cache",
            {"hit": True, "age_s": 42.0, "similarity": 0.9431},
            "kept answer, 42 s old, to a question 0.943 near",
        ),
        (
            "check_cache",
            {"hit": False, "stale": "deleted"},
            "a kept answer was not served: deleted",
        ),
        ("store_answer", {"kept": True}, "the answer is kept"),
        ("plan_queries", {"intent": "greeting"}, "intent: greeting; nothing to search"),
        (
            "retrieve",
            {"candidates": 1, "top": [{"title": "T", "heading": "H", "dense": 0.5, "bm25": 2.0}]},
            "1. T > H  dense 0.500  bm25 2.000",
        ),
        (
            "grade_documents",
            {"graded": [{"title": "T", "heading": "", "verdict": "correct", "probability": 0.9}]},
            "0.900  correct    T",
        ),
        ("retrieve", {"candidates": 2, "fusion": "rrf", "merge": "best"}, "fusion: rrf"),
        ("retrieve", {"candidates": 2, "fusion": "blend", "merge": "votes"}, "merge: votes"),
        ("rerank", {"left": "the order of retrieval"}, "left in the order of retrieval"),
        ("rewrite_query", {"technique": "keywords", "query": "refund"}, "keywords: refund"),
        ("web_search", {"sent": "q", "results": []}, "sent to the web: q"),
        ("generate", {"sentences": ["S."], "evidence": 2}, "draft: S."),
        (
            "check_grounding",
            {"supported": 0, "failed": [{"sentence": "S.", "problem": "number"}]},
            "not supported: S. (number)",
        ),
        ("decline", {"reason": "no_evidence", "detail": ""}, "refused: no_evidence"),
        ("a_new_node", {"hits": 2}, "hits: 2"),
    ],
)
def test_each_node_says_what_it_decided(node: str, summary: dict[str, Any], line: str) -> None:
    assert line in texts(node, summary)


def test_a_fallback_and_an_error_stand_out() -> None:
    assert texts("rerank", {"top": []}, "fallback")[-1].startswith("degraded: ")
    assert texts("retrieve", {"error": "it failed"}, "error")[-1] == "degraded: it failed"


def test_prints_seq_node_time_and_status() -> None:
    printed = io.StringIO()
    trace_printer(printed)(entry("decline", {"reason": "budget"}))
    head, detail = printed.getvalue().splitlines()
    assert head.split() == ["7", "decline", "12.3", "ms", "ok"]
    assert detail.strip() == "refused: budget"
