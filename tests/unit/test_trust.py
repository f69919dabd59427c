"""A document's word comes before a page's, and no document can raise itself."""

from typing import Any

import pytest

from graph.adapters.extractive import Told, choose
from ingest.documents import Candidate
from ingest.loaders import load_bytes
from nodes.evidence import usable
from nodes.findings import Evidence, Stated
from nodes.state import State
from nodes.trust import trust
from tests.fakes import a_chunk, a_grade

TEXT = "The case of the hub is {}."


def told(name: str, colour: str, probability: float, **more: Any) -> Told:
    text = TEXT.format(colour)
    metadata, url = more.get("metadata", {}), more.get("url")
    candidate = Candidate(a_chunk(name, text, metadata=metadata), {}, url=url)
    return Told(candidate, Stated(0, len(text), probability))


WEB = told("w", "grey", 0.99, url="https://example.org")
LOW = told("l", "green", 0.98, metadata={"trust": "low"})
DOCUMENT = told("d", "white", 0.95)


def test_the_web_is_lowest_and_a_document_of_low_trust_between() -> None:
    assert [trust(one.candidate) for one in (WEB, LOW, DOCUMENT)] == [0, 1, 2]


def test_the_answer_of_a_document_is_told_first() -> None:
    assert choose("Which colour?", [WEB, LOW, DOCUMENT], 5) == [DOCUMENT, LOW, WEB]


def test_where_both_say_the_same_the_document_is_cited() -> None:
    same = told("d", "grey", 0.95)
    assert choose("Which colour?", [WEB, same], 5) == [same]


def test_a_document_that_hardly_answers_does_not_silence_the_web() -> None:
    assert choose("Which colour?", [WEB, told("d", "white", 0.2)], 5) == [WEB]


def test_every_generator_reads_the_documents_first() -> None:
    evidence = [Evidence(one.candidate, a_grade("correct"), 0) for one in (WEB, LOW, DOCUMENT)]
    found = usable(State(evidence=evidence))
    assert [e.candidate.chunk.chunk_id for e in found] == ["d", "l", "w"]


@pytest.mark.parametrize(("said", "kept"), [("low", "low"), ("LOW", "low"), ("high", None)])
def test_a_document_can_lower_itself_alone(said: str, kept: str | None) -> None:
    document = load_bytes("a.md", f"---\ntrust: {said}\n---\n# A\n\nText.\n".encode())
    assert document.metadata.get("trust") == kept
