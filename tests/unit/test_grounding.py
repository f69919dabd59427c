"""Quotations are checked against the stored text; whatever is off by a character fails."""

from typing import Any

import pytest

from graph.adapters.grounding import QuoteChecker
from ingest.documents import quote_sha256
from nodes.citations import citation_problem, citations_problem
from nodes.ports import Sources
from nodes.state import Sentence
from tests.fakes import a_chunk, a_citation

TEXT = "Größe 🗂 zählt. Refunds take five days. The end."
QUOTE = "Refunds take five days."
START = TEXT.index(QUOTE)
CHUNK = a_chunk("a", TEXT)
SOURCES = Sources({("doc-a", "r1"): TEXT})


def citation(**changed: Any) -> Any:
    place = {"start": START, "end": START + len(QUOTE), "quote": QUOTE}
    return a_citation(CHUNK, **(place | {"quote_sha256": quote_sha256(QUOTE)} | changed))


async def problem(sentence: Sentence, sources: Sources = SOURCES) -> str:
    (support,) = await QuoteChecker().check("?", [sentence], sources)
    assert support.sentence == sentence.text
    assert support.supported == (support.probability == 1.0) == (not support.problem)
    return support.problem


async def test_a_true_quotation_stands() -> None:
    assert await problem(Sentence(QUOTE, [citation()])) == ""


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"start": START + 1}, "does not stand"),
        ({"end": START + len(QUOTE) - 1}, "does not stand"),
        ({"start": START - 1, "end": START + len(QUOTE) - 1}, "does not stand"),
        ({"start": -5}, "outside"),
        ({"end": len(TEXT) + 1}, "outside"),
        ({"start": START + len(QUOTE)}, "outside"),
        ({"quote": "Refunds take nine days."}, "does not stand"),
        ({"quote_sha256": quote_sha256("other")}, "altered"),
        ({"quote_sha256": ""}, "altered"),
        ({"revision": "r0"}, "no longer answers"),
        ({"document_id": "doc-b"}, "no longer answers"),
    ],
)
async def test_a_citation_that_is_off_fails(changed: dict[str, Any], expected: str) -> None:
    assert expected in await problem(Sentence(QUOTE, [citation(**changed)]))
    assert expected in citation_problem(citation(**changed), SOURCES)


async def test_a_sentence_without_a_citation_fails() -> None:
    assert await problem(Sentence(QUOTE, [])) == "no citation"
    assert citations_problem(Sentence(QUOTE, []), SOURCES) == "no citation"


@pytest.mark.parametrize("text", ["Refunds take nine days.", QUOTE + " Always.", "", QUOTE.lower()])
async def test_other_words_than_the_quotation_fail(text: str) -> None:
    assert "not the words" in await problem(Sentence(text, [citation()]))


async def test_one_bad_citation_among_good_ones_fails() -> None:
    assert await problem(Sentence(QUOTE, [citation(), citation(revision="r0")]))


async def test_offsets_are_code_points_not_bytes() -> None:
    in_bytes = len(TEXT[:START].encode())
    assert in_bytes != START
    assert await problem(Sentence(QUOTE, [citation(start=in_bytes)]))


async def test_a_changed_document_no_longer_supports() -> None:
    changed = Sources({("doc-a", "r1"): TEXT.replace("five", "nine")})
    assert "does not stand" in await problem(Sentence(QUOTE, [citation()]), changed)
    assert await problem(Sentence(QUOTE, [citation()]), Sources({}))
