"""Each source of a base is searched for its own candidates, over the memory and embedded store."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.trace_view import lines_of
from ingest.adapters.memory import MemoryStore
from ingest.errors import DependencyError
from ingest.records import DocumentRecord
from ingest.scope import LOCAL, Scope
from nodes.sources import MOST, REST, sources_of
from tests.corpus import BASE, open_corpus
from tests.fakes import FakeGrader, FakeIndex, HashingEmbedder, a_candidate
from tests.runs import kinds, ports, run

QUESTION = "When are refunds paid?"
MANY = {f"news/{n}.md": f"Refunds are paid, says note {n}." for n in range(6)}
TEXTS = MANY | {
    "rules/pay.md": "Money goes back to a customer in May.",
    "rules/old.md": "---\nstatus: superseded\n---\nRefunds are paid in June.",
    "readme.md": "All about a shop.",
}


def a_record(source: str) -> DocumentRecord:
    return DocumentRecord(f"id of {source}", source, "", "r", "", "text/plain", 1, "")


@pytest.mark.parametrize("stored", ["memory", "embedded"])
async def test_a_small_source_gets_its_budget_however_near_another_is(
    store_path: Path, embedder: HashingEmbedder, stored: str
) -> None:
    store = MemoryStore() if stored == "memory" else None
    async with open_corpus(store_path / "crag", embedder, store) as corpus:
        for source, text in TEXTS.items():
            await corpus.upload(source, text)
        services = ports(index=corpus.index, documents=corpus.index, grader=FakeGrader({}))
        asked: dict[str, Any] = {"knowledge_base": BASE, "rewrites": 0, "exact": True}
        plain = await run(services, QUESTION, candidates=2, **asked)
        apart = await run(services, QUESTION, candidates=2, source_candidates=1, **asked)
        held = await corpus.index.documents(LOCAL, BASE)
    folders = [c.chunk.metadata["source"].split("/")[0] for c in plain.candidates]
    assert set(folders) == {"news"}
    found = [c.chunk.metadata["source"] for c in apart.candidates]
    assert {"rules/pay.md", "readme.md"} <= set(found)
    assert "rules/old.md" not in found  # what the question filters out stays out
    assert len(found) == len(set(found)) and 3 <= len(found) <= 2 * len(sources_of(held))
    fused = [c.scores["fused"] for c in apart.candidates]
    assert fused == sorted(fused, reverse=True)
    (entry,) = [vars(e) for e in apart.trace if e.node == "retrieve"]
    assert entry["summary"]["sources"].keys() == {"news", "rules", "."}
    assert any(text.startswith("each source on its own: ") for text, _ in lines_of(entry))


async def test_where_sources_cannot_be_told_the_base_is_searched_as_one() -> None:
    class Gone:
        async def documents(self, scope: Scope, base: str) -> list[DocumentRecord]:
            raise DependencyError("the records are gone")

    index = FakeIndex([a_candidate("a")])
    state = await run(ports(index=index, documents=Gone()), source_candidates=5)
    assert kinds(state) == [("retrieve", "dependency_down")]
    assert state.degraded[0].fallback == "searched as one source"
    assert state.outcome == "answered"
    assert [search["limit"] for search in index.searches] == [50]


async def test_off_or_with_one_source_there_is_one_search() -> None:
    class Held:
        def __init__(self, *sources: str) -> None:
            self.sources = sources

        async def documents(self, scope: Scope, base: str) -> list[DocumentRecord]:
            return [a_record(source) for source in self.sources]

    for held, options in ((Held("a/1", "b/1"), {}), (Held("a/1", "a/2"), {"source_candidates": 5})):
        index = FakeIndex([a_candidate("a")])
        state = await run(ports(index=index, documents=held), **options)
        assert [search["limit"] for search in index.searches] == [50]
        assert "sources" not in next(e for e in state.trace if e.node == "retrieve").summary


@given(st.lists(st.sampled_from(["", *"abcdefghijkl", REST]), max_size=40))
def test_every_document_is_of_one_source_and_the_largest_are_searched_apart(
    folders: Sequence[str],
) -> None:
    held = [a_record(f"{folder}/{n}" if folder else f"{n}") for n, folder in enumerate(folders)]
    found = sources_of(held)
    if len(set(folders)) < 2:
        assert found == {}
        return
    ids = [one for only in found.values() for one in only.conditions[0].values]
    assert sorted(ids) == sorted(record.document_id for record in held)
    assert 2 <= len(found) <= MOST


def test_one_question_makes_few_searches_in_a_base_of_many_folders() -> None:
    held = [a_record(f"{n % 300}/{n}.md") for n in range(3_000)]
    found = sources_of(held)
    assert len(found) == MOST and list(found)[-1] == REST
