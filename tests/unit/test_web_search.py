"""What leaves this machine, and what comes back as candidates."""

from types import SimpleNamespace
from typing import Any

import pytest

from ingest.errors import DependencyError
from nodes.findings import Evidence, Sentence
from nodes.ports import WebResult
from nodes.state import State
from nodes.web_search import MAX_PASSAGE, MAX_SENT, WEB_REVISION, web_search, without_private
from tests.fakes import FakeWeb, a_candidate, a_citation, a_grade

RUNTIME: Any = SimpleNamespace(context=None)


@pytest.mark.parametrize(
    "secret",
    [
        "anna.berger+x@example.co.uk",
        "sk-proj-abcdefghijklmnop1234",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "tvly-abcdefghijklmnop",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "DE89 3704 0044 0532 0130 00",
        "DE89370400440532013000",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "d41d8cd98f00b204e9800998ecf8427e",
        "password: hunter2",
        "api_key=abc",
        "token = xyz",
        "Passwort: geheim",
    ],
)
def test_secrets_and_addresses_are_not_sent(secret: str) -> None:
    sent = without_private(f"Why is {secret} refused by the gateway?")
    for part in secret.replace(":", " ").replace("=", " ").split():
        if len(part) >= 4 and part.lower() not in ("password", "passwort", "token", "api_key"):
            assert part not in sent
    assert "gateway" in sent


@pytest.mark.parametrize(
    "question",
    [
        "How do I fix E-4102 on the V2a?",
        "What changed in 3.2.1 on 2024-05-01?",
        "Wie hoch ist die Umsatzsteuer in Österreich 2024?",
        "What is a token bucket?",
        "How do I reset my password?",
        "How long is the Donaudampfschifffahrtsgesellschaft around?",
    ],
)
def test_a_plain_question_is_sent_as_it_is(question: str) -> None:
    assert without_private(question) == question


def test_what_is_sent_is_short_and_on_one_line() -> None:
    assert len(without_private("word " * 1_000)) <= MAX_SENT
    assert without_private(" a\n\tb ") == "a b"


async def test_only_the_stripped_question_is_sent_and_shown() -> None:
    web = FakeWeb([])
    state = State(question="q", standalone="Who is anna@example.org?")
    update = await web_search(state, RUNTIME, web=web)
    assert web.sent == ["Who is ?"] == [update["web_sent"]]
    assert update["summary"]["sent"] == "Who is ?"


async def test_nothing_is_sent_where_nothing_is_left() -> None:
    web = FakeWeb([])
    update = await web_search(State(standalone="anna@example.org"), RUNTIME, web=web)
    assert web.sent == []
    assert update["web_sent"] == ""
    assert update["degraded"][0].kind == "nothing_to_send"


async def test_results_are_candidates_of_their_own_kind() -> None:
    page = WebResult("https://example.org/a", "A page", "x" * (MAX_PASSAGE + 10))
    update = await web_search(State(standalone="What is it about?"), RUNTIME, web=FakeWeb([page]))
    (candidate,) = update["candidates"]
    assert candidate.url == candidate.chunk.document_id == page.url
    assert candidate.chunk.revision == WEB_REVISION
    assert candidate.chunk.text == page.text[:MAX_PASSAGE]
    assert candidate.scores == {}
    assert update["candidates_seen"] == [candidate.chunk.chunk_id]


async def test_what_comes_from_the_web_is_printable() -> None:
    page = WebResult("https://example.org/a", "A\x1b[2J\npage", "Five\x1b[31m days.\x07")
    update = await web_search(State(standalone="How long is it?"), RUNTIME, web=FakeWeb([page]))
    (chunk,) = [candidate.chunk for candidate in update["candidates"]]
    assert (chunk.title, chunk.text) == ("A [2J page", "Five [31m days. ")
    assert chunk.end == len(chunk.text)
    assert update["summary"]["results"] == [{"title": "A [2J page", "url": page.url}]


@pytest.mark.parametrize(
    "page",
    [
        WebResult("https://example.org/\x1b[31m", "Page", "text"),
        WebResult("https://example.org/a b", "Page", "text"),
        WebResult("https://example.org/a\u202e", "Page", "text"),
        WebResult("https://example.org/a", "Page", "\x1b\x07 \x00"),
    ],
)
async def test_a_page_that_cannot_be_shown_is_no_result(page: WebResult) -> None:
    update = await web_search(State(standalone="How long is it?"), RUNTIME, web=FakeWeb([page]))
    assert update["candidates"] == []


async def test_what_a_failed_search_said_is_printable() -> None:
    web = FakeWeb(DependencyError("no\x1b[2J key"))
    update = await web_search(State(standalone="How long is it?"), RUNTIME, web=web)
    assert update["degraded"][0].detail == "no [2J key"


async def test_a_page_says_what_was_hidden_in_it() -> None:
    pages = [
        WebResult(f"https://example.org/{n}", "P", t) for n, t in enumerate(["a\u200bb", "ab"])
    ]
    update = await web_search(State(standalone="How long is it?"), RUNTIME, web=FakeWeb(pages))
    said = [candidate.chunk.metadata for candidate in update["candidates"]]
    assert said == [{"hidden_characters": "1"}, {}]


async def test_the_same_page_has_the_same_id_and_counts_once() -> None:
    page = WebResult("https://example.org/a", "A page", "text")
    state = State(standalone="What is it about?")
    once = await web_search(state, RUNTIME, web=FakeWeb([page]))
    twice = await web_search(state, RUNTIME, web=FakeWeb([page, page]))
    assert once["candidates"] == twice["candidates"]


@pytest.mark.parametrize(
    ("confidence", "results", "kept"),
    [
        (0.2, [WebResult("https://example.org/a", "A", "It is grey.")], []),
        (0.9, [WebResult("https://example.org/a", "A", "It is grey.")], ["told", "other"]),
        (0.2, [], ["told", "other"]),
    ],
)
async def test_evidence_of_a_draft_too_unsure_is_set_aside_for_pages(
    confidence: float, results: list[WebResult], kept: list[str]
) -> None:
    told, other = a_candidate("told", "It is 168 mm wide."), a_candidate("other", "It has a door.")
    state = State(
        standalone="What colour is it?",
        evidence=[Evidence(told, a_grade("correct"), 1), Evidence(other, a_grade("ambiguous"), 1)],
        draft=[Sentence("It is 168 mm wide.", [a_citation(told.chunk)])],
        confidence=confidence,
    )
    update = await web_search(state, RUNTIME, web=FakeWeb(results))
    assert [e.candidate.chunk.chunk_id for e in update["evidence"]] == kept
