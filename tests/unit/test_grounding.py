"""Quotations are checked against the stored text; whatever is off by a character fails."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.adapters.grounding import QuoteChecker
from ingest.documents import quote_sha256
from nodes.citations import citation_fault, citation_problem, citations_problem, renumbered
from nodes.findings import Sentence
from nodes.ports import Sources
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
        ({"start": START + 1}, "misattributed"),
        ({"end": START + len(QUOTE) - 1}, "misattributed"),
        ({"start": START - 1, "end": START + len(QUOTE) - 1}, "misattributed"),
        ({"start": -5}, "misattributed"),
        ({"end": len(TEXT) + 1}, "misattributed"),
        ({"start": START + len(QUOTE)}, "misattributed"),
        ({"quote": "Refunds take nine days."}, "fabricated"),
        ({"quote": "Refunds take … five days. The end."}, "misattributed"),
        ({"quote": "zählt. Refunds take The end."}, "fabricated"),
        ({"quote": "Größe zählt Refunds take five days Refunds take five"}, "stitched"),
        ({"quote_sha256": quote_sha256("other")}, "altered"),
        ({"quote_sha256": ""}, "altered"),
        ({"revision": "r0", "quote": "Refunds took seven days."}, "stale"),
        ({"document_id": "doc-b"}, "misattributed"),
    ],
)
async def test_a_citation_that_is_off_fails(changed: dict[str, Any], expected: str) -> None:
    assert expected in await problem(Sentence(QUOTE, [citation(**changed)]))
    assert expected in citation_problem(citation(**changed), SOURCES)


NUMBERS = ("1" * 4000, "1,234" * 400, "ab3f" * 500, "192.168-7_" * 90 + "9")


@pytest.mark.parametrize("number", NUMBERS)
@given(data=st.data())
@settings(max_examples=25)
def test_a_part_of_a_number_is_no_quotation_of_it(number: str, data: st.DataObject) -> None:
    """One that is longer than a passage is cut by the splitter, wherever that may be."""
    before, after = "The number is ", ", as we know."
    text = f"{before}{number}{after} Die nächste Zahl ist 7."
    first, last = len(before), len(before) + len(number)
    cut = data.draw(st.integers(first + 1, last - 1))
    known = Sources({("doc-a", "r1"): text})
    for start, end, fault in (
        (0, cut, "cut"),
        (cut, last + len(after), "cut"),
        (0, last + len(after), None),
        (first, last, None),
        (last + len(after) + 1, len(text), None),
    ):
        quote = text[start:end]
        place = {"start": start, "end": end, "quote": quote, "quote_sha256": quote_sha256(quote)}
        assert citation_fault(citation(**place), known) == fault


async def test_a_sentence_without_a_citation_fails() -> None:
    assert await problem(Sentence(QUOTE, [])) == "uncited: no citation"
    assert citations_problem(Sentence(QUOTE, []), SOURCES) == "uncited: no citation"


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
    cited = Sentence(QUOTE, [citation()])
    changed = {("doc-a", "r1"): TEXT.replace("five", "nine")}
    assert "stale" in await problem(cited, Sources(changed, [CHUNK]))
    assert "stale" in await problem(cited, Sources({}, [CHUNK]))
    assert "stale" in await problem(cited, Sources({}))
    assert "fabricated" in await problem(cited, Sources(changed))


async def test_a_quote_of_another_passage_of_the_evidence_is_misattributed() -> None:
    other = a_chunk("b", "Shipping is free above 50 euros.")
    cited = citation(quote=other.text)
    assert citation_fault(cited, Sources(SOURCES.texts, [CHUNK, other])) == "misattributed"
    assert citation_fault(cited, Sources(SOURCES.texts, [CHUNK])) == "fabricated"


words = st.lists(st.sampled_from("a b c d e f g h".split()), min_size=1, max_size=12).map(" ".join)


@settings(deadline=None, max_examples=200)
@given(st.lists(words, min_size=1, max_size=3), words)
def test_stitched_means_that_some_cut_into_standing_pieces_exists(
    texts: list[str], quote: str
) -> None:
    """Against every cut that there is."""
    read = "|".join(f" {text} " for text in texts)

    def some_cut(left: list[str]) -> bool:
        sizes = [n for n in range(3, len(left) + 1) if f" {' '.join(left[:n])} " in read]
        return not left or any(some_cut(left[n:]) for n in sizes)

    whole = f" {quote} " in read
    chunks = [a_chunk(str(n), text) for n, text in enumerate(texts)]
    made_up = citation(document_id="none", revision="r", quote=quote)
    fault = citation_fault(made_up, Sources({}, chunks))
    expected = "misattributed" if whole else "stitched" if some_cut(quote.split()) else "fabricated"
    assert fault == expected


def test_numbers_beside_kept_sentences_are_not_given_twice() -> None:
    kept = [Sentence("Kept.", [citation(n=1), citation(n=3, start=0)])]
    new = [Sentence("New.", [citation(n=1), citation(n=1, start=1), citation(n=2, start=2)])]
    (numbered,) = renumbered(new, beside=kept)
    assert [c.n for c in numbered.citations] == [1, 2, 4]
    assert [c.n for c in renumbered(new)[0].citations] == [1, 2, 3]
