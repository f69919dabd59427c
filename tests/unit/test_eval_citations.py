"""Citations are read again from the stored text, whoever checked before."""

from dataclasses import replace

import pytest

from eval.citations import Stored, support_problems, supports, told
from eval.records import Told
from ingest.documents import quote_sha256
from ingest.ports import DocumentRecord
from ingest.scope import LOCAL, Scope
from nodes.citations import said
from nodes.findings import Citation, Sentence
from tests.fakes import a_chunk, a_citation

TEXT = "Refunds are paid within five days. Postage of 5 euros is not paid."
CHUNK = a_chunk("a", TEXT)
CITATION = a_citation(CHUNK)


MISATTRIBUTED = said("misattributed")


class FakeStore:
    """One stored document; counts how often it is read."""

    def __init__(self, text: str | None = TEXT) -> None:
        self.stored = text
        self.read = 0

    async def text(self, scope: Scope, base: str, document: str, revision: str) -> str | None:
        self.read += 1
        held = (scope, base, document, revision) == (LOCAL, "kb", "doc-a", "r1")
        return self.stored if held else None

    async def documents(self, scope: Scope, base: str) -> list[DocumentRecord]:
        self.read += 1
        return []


async def checked(citation: Citation, text: str = TEXT, stored: str | None = TEXT) -> str:
    store = Stored(FakeStore(stored))  # type: ignore[arg-type]
    (one,) = await told([Sentence(text, [citation])], store, "kb")
    return one.citations[0].problem


async def test_a_citation_of_the_stored_text_has_no_problem() -> None:
    assert await checked(CITATION) == ""


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"start": 1}, MISATTRIBUTED),
        ({"end": len(TEXT) + 1}, MISATTRIBUTED),
        ({"start": -1}, MISATTRIBUTED),
        ({"start": 9, "end": 9}, MISATTRIBUTED),
        ({"quote": TEXT.replace("five", "nine")}, said("fabricated")),
        ({"quote_sha256": "0" * 64}, said("altered")),
        ({"revision": "r0"}, said("stale")),
        ({"document_id": "doc-b"}, said("stale")),
    ],
)
async def test_a_citation_that_does_not_stand_says_why(
    wrong: dict[str, object], problem: str
) -> None:
    assert await checked(replace(CITATION, **wrong)) == problem  # type: ignore[arg-type]


async def test_a_document_that_changed_since_no_longer_holds_the_quote() -> None:
    assert await checked(CITATION, stored=None) == said("stale")
    changed = "Now " + TEXT
    assert await checked(CITATION, stored=changed) == MISATTRIBUTED


async def test_a_quote_that_stands_must_still_support_the_sentence() -> None:
    problem = "the quote does not support the sentence"
    assert await checked(CITATION, "Parental leave lasts twelve weeks.") == problem
    assert await checked(CITATION, "Postage of 6 euros is not paid.") == problem


@pytest.mark.parametrize(
    ("quote", "sentence", "supported"),
    [
        (TEXT, "Refunds are paid within five days.", True),
        (TEXT, "refunds are  PAID within **five** days.", True),
        # refunds, paid, five, days of refunds, paid, after, five, days: all of its content words
        (TEXT, "Refunds get paid after five days.", True),
        # postage, paid of postage, gets, paid, weekly, cash: 2 of 4
        (TEXT, "Postage gets paid weekly, cash.", False),
        (TEXT, "Postage of 7 euros is not paid.", False),
        (TEXT, "Parental leave lasts twelve weeks.", False),
        ("", "Refunds are paid.", False),
        (TEXT, "And so it was.", False),
        ("退款会在五天内支付。运费不退。", "退款会在五天内支付。", True),
        ("退款会在五天内支付。", "育儿假为十二周。", False),
        ("Возврат оплачивается за 5 дней.", "Возврат оплачивается за 6 дней.", False),
        ("Возврат оплачивается за 5 дней.", "За 5 дней оплачивается возврат.", True),
    ],
)
def test_a_quote_supports_what_it_says(quote: str, sentence: str, supported: bool) -> None:
    assert supports(sentence, quote) is supported


async def test_verdicts_stand_beside_their_sentences() -> None:
    sentences = [Sentence("One.", []), Sentence("Two.", []), Sentence("Three.", [])]
    store = Stored(FakeStore())  # type: ignore[arg-type]
    found = await told(sentences, store, "kb", supports=[True, False])
    assert found == [
        Told(text="One.", supported=True, citations=[]),
        Told(text="Two.", supported=False, citations=[]),
        Told(text="Three.", supported=None, citations=[]),
    ]


async def test_a_page_of_the_web_is_read_from_the_run() -> None:
    page = replace(CITATION, document_id="https://example.org", revision="web")
    store = Stored(FakeStore())  # type: ignore[arg-type]
    web = {("https://example.org", "web"): TEXT}
    (one,) = await told([Sentence(TEXT, [page])], store, "kb", web=web)
    assert one.citations[0].problem == ""
    assert one.citations[0].document == "https://example.org"


async def test_a_stored_text_is_read_once() -> None:
    index = FakeStore()
    store = Stored(index)  # type: ignore[arg-type]
    for _ in range(3):
        await told([Sentence(TEXT, [CITATION])], store, "kb")
    assert index.read == 2  # the text, and the sources of its base


@pytest.mark.parametrize("sentence", ["", " ", "**"])
def test_nothing_is_not_supported(sentence: str) -> None:
    assert not supports(sentence, TEXT)


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("Refunds take 15 days.", "5 days."),
        ("The price is 1499 euros.", "499 euros."),
        ("It rose by 2.5 percent.", "It rose by 5.2 percent."),
    ],
)
def test_a_number_within_another_one_is_another_number(quote: str, sentence: str) -> None:
    assert not supports(sentence, quote)


PAID = "Refunds are paid within five days after the goods came back."
POSTAGE = "Postage of 6 euros is deducted from every parcel."
MERGED = "Refunds are paid within five days, and postage of 6 euros is deducted."
OTHER = "Parental leave lasts twelve weeks for both parents."
ALONE, NEEDLESS = "the quote does not support the sentence", "the quote adds nothing to the others"


def found(sentence: str, *quotes: str) -> list[str]:
    return [
        problem.removesuffix(" of its sentence") for problem in support_problems(quotes, sentence)
    ]


def test_a_sentence_merged_from_two_sources_rests_on_both() -> None:
    assert found(MERGED, PAID, POSTAGE) == ["", ""]
    assert found(MERGED, PAID) == [ALONE]
    assert found(MERGED, POSTAGE) == [ALONE]


def test_a_source_that_was_mistaken_for_another_is_found_beside_a_right_one() -> None:
    assert found(MERGED, PAID, OTHER) == [ALONE, ALONE]
    assert found(MERGED, PAID, POSTAGE, OTHER) == ["", "", NEEDLESS]
    assert found(PAID, PAID, OTHER) == ["", NEEDLESS]


def test_two_sources_that_say_the_same_are_both_right() -> None:
    again = "Within five days after the goods came back refunds are paid."
    assert found(PAID, PAID, again) == ["", ""]
    assert found(MERGED, PAID, again, POSTAGE) == ["", "", ""]


def test_one_word_in_common_adds_too_little() -> None:
    near = "A back office handles parcels."
    assert found(MERGED, PAID, POSTAGE, near) == ["", "", NEEDLESS]


async def test_a_broken_citation_supports_nothing_beside_another() -> None:
    text = f"{PAID} {POSTAGE}"
    chunk = a_chunk("a", text)
    first = a_citation(chunk, end=len(PAID), quote=PAID, quote_sha256=quote_sha256(PAID))
    second = a_citation(
        chunk, 2, start=len(PAID) + 1, quote=POSTAGE, quote_sha256=quote_sha256(POSTAGE)
    )
    shifted = replace(second, start=second.start - 3, end=second.end - 3)
    store = Stored(FakeStore(text))  # type: ignore[arg-type]
    merged, broken = await told(
        [Sentence(MERGED, [first, second]), Sentence(MERGED, [first, shifted])], store, "kb"
    )
    assert [cited.problem for cited in merged.citations] == ["", ""]
    assert [cited.problem for cited in broken.citations] == [
        ALONE,
        MISATTRIBUTED,
    ]
