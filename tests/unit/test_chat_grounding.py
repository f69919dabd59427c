"""What needs no judge is not asked for; what has no verdict is no support."""

from typing import Any

import pytest

from graph.adapters.chat_grounding import ChatGroundingChecker
from graph.adapters.chat_model import NoVerdict
from ingest.errors import DependencyError
from nodes.findings import Sentence, Support
from nodes.ports import Sources
from tests.chat_runs import chat_model
from tests.fake_chat import FakeChat, Fault, Reply
from tests.fakes import a_chunk, a_citation

TEXT = "Refunds take 15 days. Code E-4102 means that the VPN is down. It costs EUR 1,200."
CHUNK = a_chunk("a", TEXT)
SOURCES = Sources({(CHUNK.document_id, CHUNK.revision): TEXT})


@pytest.fixture(autouse=True)
def script(chat: FakeChat) -> None:
    chat.script = lambda body: '{"supported": [1]}'


def says(text: str, **changed: Any) -> Sentence:
    return Sentence(text, [a_citation(CHUNK, **changed)])


async def checked(chat: FakeChat, *sentences: Sentence, batched: bool = True) -> list[Support]:
    checker = ChatGroundingChecker(chat_model(chat), batched=batched)
    return await checker.check("How long?", sentences, SOURCES)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Refunds take 5 days.", "5"),
        ("Refunds take 1.5 days.", "1.5"),
        ("Code E-41 means that it is down.", "41"),
        ("Code E-4103 means that it is down.", "E-4103"),
        ("The LAN is down.", "LAN"),
        ("It costs EUR 1,20.", "1,20"),
    ],
)
async def test_a_number_or_code_that_is_not_cited_is_unsupported_without_a_call(
    chat: FakeChat, text: str, missing: str
) -> None:
    (support,) = await checked(chat, says(text))
    assert not support.supported and missing in support.problem
    assert chat.requests == []


@pytest.mark.parametrize("text", ["After 15 days refunds arrive.", "The price is EUR 1200."])
async def test_numbers_that_stand_there_are_left_to_the_judge(chat: FakeChat, text: str) -> None:
    (support,) = await checked(chat, says(text))
    assert support.supported and len(chat.requests) == 1


async def test_what_stands_word_for_word_needs_no_call(chat: FakeChat) -> None:
    (support,) = await checked(chat, says(TEXT))
    assert (support.verdict, support.probability) == ("supported", 1.0)
    assert chat.requests == []


@pytest.mark.parametrize(
    "broken", [{"quote": "Refunds take 5 days."}, {"start": -1}, {"document_id": "gone"}]
)
async def test_a_citation_that_does_not_hold_needs_no_call(
    chat: FakeChat, broken: dict[str, Any]
) -> None:
    (support,) = await checked(chat, says("Refunds take a while.", **broken))
    assert not support.supported
    assert chat.requests == []


async def test_no_citation_is_no_support(chat: FakeChat) -> None:
    (support,) = await checked(chat, Sentence("Refunds take a while.", []))
    assert (support.supported, support.problem) == (False, "uncited: no citation")


async def test_all_open_sentences_are_judged_in_one_call(chat: FakeChat) -> None:
    chat.script = lambda body: '{"supported": [2]}'
    given = [says(TEXT), says("Refunds are slow."), says("The VPN may be down.")]
    found = await checked(chat, *given)
    assert [s.supported for s in found] == [True, False, True]
    assert len(chat.requests) == 1
    assert TEXT in chat.requests[0].body["messages"][-1]["content"]


async def test_one_token_each_and_side_by_side(chat: FakeChat) -> None:
    chat.latency_s = 0.2
    chat.script = lambda body: Reply("Yes", {"Yes": 0.9, "No": 0.1})
    found = await checked(chat, says("Refunds are slow."), says("The VPN is down."), batched=False)
    assert [s.probability for s in found] == pytest.approx([0.9, 0.9])
    assert chat.most_at_once() == 2


async def test_a_sentence_without_a_verdict_is_unsupported_and_the_others_stay(
    chat: FakeChat,
) -> None:
    chat.script = lambda body: Reply("Yes", {"Yes": 0.9, "No": 0.1})
    chat.fault_of = lambda body: (
        Fault("refusal")
        if "VPN is down" in body["messages"][-1]["content"].split("<claim")[1]
        else None
    )
    found = await checked(chat, says("Refunds are slow."), says("The VPN is down."), batched=False)
    assert [s.supported for s in found] == [True, False]
    assert found[1].problem == "the chat model gave no verdict"


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize(("kind", "error"), [("refusal", NoVerdict), ("status", DependencyError)])
async def test_where_nothing_is_judged_it_raises(
    chat: FakeChat, kind: Any, error: type[Exception], batched: bool
) -> None:
    chat.breaks(kind, times=9)
    with pytest.raises(error):
        await checked(chat, says("Refunds are slow."), batched=batched)
