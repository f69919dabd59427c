"""MMR by the worked example, near duplicates, few of one document, and what is cited of copies."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Candidate
from nodes.copies import with_copies
from nodes.diversify import diversified, marginal, stands_for
from nodes.findings import Sentence
from nodes.state import State
from tests.fakes import FakeGrader, FakeIndex, a_candidate, a_citation
from tests.runs import kinds, ports, run

TEXT = (
    "Refunds are paid within five business days after the warehouse has checked the goods in, or "
    "for subscriptions after the cancellation was confirmed by us in writing."
)
PAPER = [[1.0, 0.95, 0.30], [0.95, 1.0, 0.2], [0.30, 0.2, 1.0]]


def test_mmr_by_hand() -> None:
    """Round 1: A .630. Round 2: B .616 - .285 = .331, C .490 - .090 = .400."""
    assert marginal([0.90, 0.88, 0.70], PAPER, 0.7) == [0, 2, 1]
    assert marginal([0.90, 0.88, 0.70], PAPER, 1.0) == [0, 1, 2]


@given(st.lists(st.floats(0, 1), max_size=6), st.floats(0, 1), st.data())
def test_mmr_keeps_every_place_and_begins_with_the_best(
    relevance: list[float], weight: float, data: Any
) -> None:
    row = st.lists(st.floats(0, 1), min_size=len(relevance), max_size=len(relevance))
    similarity = [data.draw(row) for _ in relevance]
    order = marginal(relevance, similarity, weight)
    assert sorted(order) == list(range(len(relevance)))
    if order and weight > 0.01:
        assert relevance[order[0]] == pytest.approx(max(relevance))


def with_metadata(candidate: Candidate, **metadata: str) -> Candidate:
    return replace(candidate, chunk=replace(candidate.chunk, metadata=metadata))


@pytest.mark.parametrize(
    ("other", "stands"),
    [
        (TEXT, True),
        (TEXT.replace(", or ", "; or\n"), True),
        (TEXT.partition(", or")[0], True),
        (f"{TEXT} We thank you.", False),
        (TEXT.replace("five", "ten"), False),
        (TEXT.replace("are paid", "are not paid"), False),
        (TEXT.replace("warehouse", "depot"), False),
        ("Parking permits are renewed in November.", False),
    ],
)
def test_a_passage_stands_for_one_that_says_nothing_more(other: str, stands: bool) -> None:
    assert stands_for(a_candidate("a", TEXT), a_candidate("b", other)) is stands


def test_what_is_superseded_or_from_the_web_stands_for_nothing_else() -> None:
    ours = a_candidate("a", TEXT)
    assert not stands_for(ours, with_metadata(a_candidate("b", TEXT), status="superseded"))
    assert not stands_for(ours, a_candidate("w", TEXT, url="https://example.org"))


def test_one_of_each_document_comes_first() -> None:
    found = [a_candidate(name, f"Passage {name}.") for name in "abcd"]
    of_one = [replace(c, chunk=replace(c.chunk, document_id="d")) for c in found[:3]]
    made = diversified([*of_one, found[3]], collapse=False, per_document=1, mmr=1.0)
    assert [c.chunk.chunk_id for c in made.candidates] == ["a", "d", "b", "c"]
    assert made.moved == 3


def test_one_of_each_folder_comes_first() -> None:
    sources = ["hr/a.md", "hr/b/c.md", "top.md", "it/a.md", "other.md"]
    found = [with_metadata(a_candidate(s, f"Passage {s}."), source=s) for s in sources]
    found.append(a_candidate("w", "Passage w.", url="https://example.org/a"))
    made = diversified(found, collapse=False, per_document=None, per_source=1, mmr=1.0)
    assert [c.chunk.chunk_id for c in made.candidates] == [
        "hr/a.md", "top.md", "it/a.md", "w", "hr/b/c.md", "other.md",
    ]  # fmt: skip
    assert made.moved == 5


async def test_the_option_and_the_trace_of_a_budget_of_each_folder() -> None:
    found = [with_metadata(a_candidate(n), source=f"{n[0]}/{n}.md") for n in ("a1", "a2", "b1")]
    state = await run(
        ports(index=FakeIndex(found), grader=FakeGrader({})), per_source=1, rewrites=0
    )
    assert [c.chunk.chunk_id for c in state.candidates] == ["a1", "b1", "a2"]
    (summary,) = [entry.summary for entry in state.trace if entry.node == "rerank"]
    assert summary["moved"] == 2


def test_switched_off_nothing_changes() -> None:
    found = [a_candidate("a", TEXT), a_candidate("b", TEXT)]
    made = diversified(found, collapse=False, per_document=None, mmr=1.0)
    assert (made.candidates, made.copies, made.moved) == (found, {}, 0)


def test_copies_are_cited_where_they_hold_the_quote() -> None:
    told = Sentence(TEXT, [a_citation(a_candidate("a", TEXT).chunk)])
    copies = {"a": [a_candidate("b", f"Policy. {TEXT}"), a_candidate("c", TEXT.upper())]}
    (cited,) = with_copies([told], copies)
    assert [(c.n, c.chunk_id, c.start) for c in cited.citations] == [(1, "a", 0), (2, "b", 8)]


async def answered(collapse: bool) -> State:
    found = [a_candidate("a", TEXT), a_candidate("b", TEXT), a_candidate("c")]
    services = ports(index=FakeIndex(found), grader=FakeGrader({"a": "correct", "b": "correct"}))
    return await run(services, collapse=collapse)


async def test_an_answer_cites_all_copies_and_the_trace_counts_them() -> None:
    state = await answered(collapse=True)
    assert state.outcome == "answered"
    assert [c.chunk_id for c in state.draft[0].citations] == ["a", "b"]
    (summary,) = [entry.summary for entry in state.trace if entry.node == "rerank"]
    assert summary["collapsed"] == 1
    assert list(state.graded) == ["a", "c"]
    assert list((await answered(collapse=False)).graded) == ["a", "b", "c"]


async def test_where_it_fails_the_order_of_the_reranker_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(candidates: Any, **options: Any) -> Any:
        raise RuntimeError("odd")

    monkeypatch.setattr("nodes.rerank.diversified", broken)
    state = await run(ports(), mmr=0.5)
    assert kinds(state) == [("rerank", "RuntimeError")]
    assert state.degraded[0].fallback == "order of the reranker"
    assert state.outcome == "answered"
