"""Extractive answers: verbatim sentences of the kind that was asked for, each with its place."""

import pytest

from graph.adapters.answer_scorer import AnswerScorer
from graph.adapters.calibration import AnswerModel, Calibration
from graph.adapters.extractive import ExtractiveGenerator
from graph.adapters.grounding import QuoteChecker
from graph.adapters.token_vectors import TokenVectors
from ingest.documents import Candidate
from nodes.findings import Evidence, Rejected, Sentence
from nodes.layout import row_name
from nodes.ports import Draft, Sources
from tests.fakes import HashingEmbedder, a_chunk, a_grade

COVERAGE = AnswerModel(
    signs=["coverage"],
    mean=[0],
    scale=[1],
    weights=[6],
    bias=-3,
    upper=0.7,
    lower=0.1,
)
"""Nothing counts but the share of the question's words: 0 is .05, a half .5, all .95."""

QUESTION = "How long do refunds take?"
TEXT = (
    "Refunds go to the card that paid. Refunds take five business days after the return. "
    "How long do refunds take? The warehouse is closed on Sundays. Größe 🗂 zählt nicht."
)


@pytest.fixture
def generator(embedder: HashingEmbedder) -> ExtractiveGenerator:
    calibration = Calibration("1", "hashing", {"full": COVERAGE, "web": COVERAGE})
    return ExtractiveGenerator(AnswerScorer(TokenVectors(embedder, megabytes=1), calibration))


def evidence(*candidates: Candidate) -> list[Evidence]:
    return [Evidence(candidate, a_grade("correct"), 0) for candidate in candidates]


def passage(name: str = "a", text: str = TEXT, start: int = 0, **metadata: str) -> Candidate:
    chunk = a_chunk(name, text, metadata=metadata)
    return Candidate(type(chunk)(**{**vars(chunk), "start": start, "end": start + len(text)}), {})


async def drafted(
    generator: ExtractiveGenerator,
    *candidates: Candidate,
    question: str = QUESTION,
    limit: int = 3,
    rejected: tuple[str, ...] = (),
    kept: tuple[Sentence, ...] = (),
) -> Draft:
    wrong = [Rejected(text, "unsupported") for text in rejected]
    passages = evidence(*candidates)
    return await generator.generate(question, passages, limit=limit, rejected=wrong, kept=kept)


async def test_quotes_the_sentence_that_answers(generator: ExtractiveGenerator) -> None:
    draft = await drafted(generator, passage())
    assert draft.sentences[0].text == "Refunds take five business days after the return."
    assert draft.degraded == ""


async def test_every_sentence_stands_where_its_citation_says(
    generator: ExtractiveGenerator,
) -> None:
    before = "Ünrelated 🗂 text. "
    draft = await drafted(generator, passage(start=len(before)), question="When is it closed?")
    assert draft.sentences
    sources = Sources({("doc-a", "r1"): before + TEXT})
    supports = await QuoteChecker().check(QUESTION, draft.sentences, sources)
    assert [support.problem for support in supports] == [""] * len(draft.sentences)


async def test_never_answers_with_a_question_or_an_echo(generator: ExtractiveGenerator) -> None:
    draft = await drafted(generator, passage(text="How long do refunds take? Refunds take long."))
    assert [s.text for s in draft.sentences if s.text.endswith("?")] == []


async def test_a_kept_sentence_does_not_come_again_and_counts_towards_the_limit(
    generator: ExtractiveGenerator,
) -> None:
    draft = await drafted(generator, passage(), limit=2)
    kept = tuple(draft.sentences[:1])
    again = await drafted(generator, passage(), limit=2, kept=kept)
    assert [s.text for s in again.sentences] == [s.text for s in draft.sentences[1:]]


async def test_a_rejected_sentence_does_not_come_again(generator: ExtractiveGenerator) -> None:
    first = (await drafted(generator, passage())).sentences[0].text
    again = await drafted(generator, passage(), rejected=(first,))
    assert first not in [sentence.text for sentence in again.sentences]


@pytest.mark.parametrize("limit", [1, 2])
async def test_gives_at_most_the_limit_and_numbers_from_one(
    generator: ExtractiveGenerator, limit: int
) -> None:
    many = [passage(f"p{n}", f"Refund {n} takes {n} days at office{n}.") for n in range(2, 8)]
    draft = await drafted(generator, *many, limit=limit)
    assert len(draft.sentences) <= limit
    numbers = [c.n for sentence in draft.sentences for c in sentence.citations]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_does_not_say_the_same_twice(generator: ExtractiveGenerator) -> None:
    draft = await drafted(generator, passage("a"), passage("b"))
    texts = [sentence.text for sentence in draft.sentences]
    assert len(texts) == len(set(texts))


async def test_says_when_its_source_is_no_longer_current(generator: ExtractiveGenerator) -> None:
    old = await drafted(generator, passage(status="superseded", version="2"))
    assert "no longer current" in old.sentences[0].note
    assert "version 2" in old.sentences[0].note
    draft = await drafted(generator, passage(status="draft"))
    assert "draft" in draft.sentences[0].note
    current = await drafted(generator, passage(status="current"))
    assert current.sentences[0].note == ""


async def test_a_web_passage_is_cited_as_the_web(generator: ExtractiveGenerator) -> None:
    chunk = a_chunk("w", TEXT, document_id="https://example.org", revision="web")
    draft = await drafted(generator, Candidate(chunk, {}, url="https://example.org"))
    (citation,) = draft.sentences[0].citations
    assert (citation.kind, citation.url) == ("web", "https://example.org")


async def test_where_no_sentence_holds_an_answer_the_draft_is_empty(
    generator: ExtractiveGenerator,
) -> None:
    assert (await drafted(generator, passage(text="Refunds go to the card."))).sentences == []
    assert (await drafted(generator)).sentences == []


async def test_a_sentence_below_the_bar_is_not_told(generator: ExtractiveGenerator) -> None:
    draft = await drafted(generator, passage(text="Parking costs nothing for 5 days."))
    assert draft.sentences == []


async def test_the_same_evidence_gives_the_same_answer(generator: ExtractiveGenerator) -> None:
    once = await drafted(generator, passage("a"), passage("b"))
    assert await drafted(generator, passage("b"), passage("a")) == once


async def test_a_code_is_answered_by_its_own_row(generator: ExtractiveGenerator) -> None:
    rows = "Error E-4101 means no heartbeat. Error E-4107 means full buffer."
    draft = await drafted(generator, passage(text=rows), question="What does error E-4107 mean?")
    assert [sentence.text for sentence in draft.sentences] == ["Error E-4107 means full buffer."]


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("Who pays refunds?", "Refunds take five days. The cashier team pays refunds.", "team"),
        ("Who pays refunds?", "Refunds take five days after the return.", ""),
        ("Wer zahlt Gutschriften?", "Gutschriften zahlt die Buchhaltung.", "Buchhaltung"),
        ("Wer zahlt Gutschriften?", "Gutschriften dauern fünf Tage.", ""),
        ("Where are refunds paid?", "Refunds are paid at Desk 4. Refunds are paid soon.", "Desk 4"),
        ("When are refunds paid?", "Refunds have 5 days of grace a year.", ""),
    ],
)
async def test_who_where_and_when_are_answered_by_their_kind(
    generator: ExtractiveGenerator, question: str, text: str, told: str
) -> None:
    draft = await drafted(generator, passage(text=text), question=question)
    sentences = [sentence.text for sentence in draft.sentences]
    assert (sentences != []) is bool(told), sentences
    assert all(told in sentence for sentence in sentences)


TABLE = "\n".join(
    f"Bike: {name} | Per day: {price} EUR | Seats: {seats}"
    for name, price, seats in (("City bike", 16, 1), ("Cargo bike", 39, 3), ("Trailer", 9, 2))
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is the price per day of a cargo bike?", ["Cargo bike"]),
        ("What is the price per day of cargo bikes and city bikes?", ["Cargo bike", "City bike"]),
        ("What is the price per day of a bike?", ["Cargo bike", "City bike"]),
        ("What is the price per day?", ["Cargo bike", "City bike", "Trailer"]),
        ("How do I book a cargo bike per day?", ["Cargo bike"]),
    ],
)
async def test_of_a_table_the_rows_are_told_that_the_question_names(
    generator: ExtractiveGenerator, question: str, named: list[str]
) -> None:
    draft = await drafted(generator, passage(text=TABLE), question=question, limit=5)
    assert sorted(row_name(s.text) for s in draft.sentences) == named


async def test_a_word_in_common_with_one_row_names_it_not(generator: ExtractiveGenerator) -> None:
    """Half of its first cell's words do."""
    rows = ("Leave days per year, full time", "Carry-over into spring", "Notice")
    table = "\n".join(f"Rule: {name} | Leipzig leave: {n} days" for n, name in enumerate(rows, 2))
    draft = await drafted(
        generator, passage(text=table), question="What are the rules for leave in Leipzig?"
    )
    assert len(draft.sentences) == len(rows)


async def test_a_price_is_no_answer_to_how_many(generator: ExtractiveGenerator) -> None:
    text = "How many cargo bikes: cargo bikes cost 39 EUR. We have four cargo bikes in the shop."
    for question, told in (
        ("How many cargo bikes are there?", ["We have four cargo bikes in the shop."]),
        ("How many euros do cargo bikes cost?", [text[:46]]),
    ):
        draft = await drafted(generator, passage(text=text), question=question, limit=1)
        assert [s.text for s in draft.sentences] == told
