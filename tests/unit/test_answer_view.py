"""The answer object as lines for a person."""

from typing import Any

from graph.answer_view import answer_lines
from tests.api_fakes import an_answer

CITATION = {
    "n": 1,
    "title": "Refund policy",
    "heading": "Payment",
    "page": 3,
    "url": None,
    "attributed": False,
    "source": "policies/refund.md",
    "quote": "Paid within 14 days.",
}


def test_shows_title_heading_page_and_quote_of_a_citation() -> None:
    answer = an_answer().as_json() | {"citations": [CITATION]}
    assert answer_lines(answer)[1:] == [
        "\nSources",
        "[1] Refund policy > Payment, page 3  policies/refund.md",
        '    "Paid within 14 days."',
    ]
    answer["citations"] = [CITATION | {"attributed": True}]
    assert "found by its words" in answer_lines(answer)[2]


def test_a_source_names_its_base_where_several_were_asked() -> None:
    answer = an_answer().as_json() | {"citations": [CITATION | {"knowledge_base": "shop"}]}
    answer["searched"] = answer["searched"] | {"knowledge_bases": ["hr", "shop"]}
    assert "[1] Refund policy > Payment, page 3  shop: policies/refund.md" in answer_lines(answer)
    answer["citations"] = [answer["citations"][0] | {"url": "https://example.org/a"}]
    assert "[1] Refund policy > Payment, page 3 <https://example.org/a>" in answer_lines(answer)


def test_a_refusal_says_why_and_what_was_searched() -> None:
    lines = answer_lines(an_answer(question="why?", refused=True).as_json())
    assert "Refused: no_evidence: nothing that was found answers the question" in lines
    assert "Searched: handbook; not the web; 7 passages seen, best grade 0.25" in lines
    assert "  query: why?  (original)" in lines


def test_the_confidence_of_an_answer_is_said() -> None:
    lines = answer_lines(an_answer().as_json() | {"confidence": 0.913})
    assert "Confidence: 0.91" in lines


def test_a_fallback_is_said() -> None:
    fault: dict[str, Any] = {
        "node": "rerank",
        "kind": "x",
        "fallback": "order of retrieval",
        "detail": "it failed",
    }
    lines = answer_lines(an_answer().as_json() | {"degraded": [fault]})
    assert lines[-1] == "Degraded: rerank: it failed (order of retrieval)"
