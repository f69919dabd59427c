"""What every checker that settles the clear sentences first keeps to."""

from collections.abc import Sequence

import pytest

from graph.adapters.chat_grounding import ChatGroundingChecker
from graph.adapters.claim_checker import Bands, SentenceChecker
from graph.adapters.claim_scorer import Claim, ClaimScore
from nodes.findings import Sentence
from nodes.ports import Sources, StagedChecker
from tests.chat_runs import chat_model
from tests.fake_chat import FakeChat
from tests.fakes import a_chunk, a_citation

TEXT = "Refunds take 15 days. The VPN is down."
CHUNK = a_chunk("a", TEXT)
SOURCES = Sources({(CHUNK.document_id, CHUNK.revision): TEXT}, [CHUNK])
SENTENCES = [
    Sentence(TEXT, [a_citation(CHUNK)]),
    Sentence("Refunds take a while.", [a_citation(CHUNK)]),
    Sentence("Refunds take 16 days.", [a_citation(CHUNK)]),
    Sentence("Refunds take a while.", [a_citation(CHUNK, start=3)]),
    Sentence("Refunds take a while.", []),
]


class Unsure:
    """A scorer that is clear where a number is wrong, and nowhere else."""

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        return [ClaimScore(0.01 if "16" in claim.text else 0.5) for claim in claims]


@pytest.fixture(params=["batched", "one by one", "scorer before the judge"])
def checker(request: pytest.FixtureRequest, chat: FakeChat) -> StagedChecker:
    chat.script = lambda body: '{"supported": [1]}' if "response_format" in body else "Yes"
    judge = ChatGroundingChecker(chat_model(chat), batched=request.param != "one by one")
    if request.param in ("batched", "one by one"):
        return judge
    return SentenceChecker(Unsure(), Bands(0.2, 0.8), judge)


async def test_settles_in_order_without_the_model(checker: StagedChecker, chat: FakeChat) -> None:
    settled = await checker.settled("How long?", SENTENCES, SOURCES)
    told = [None if one is None else one.supported for one in settled]
    assert told == [True, None, False, False, False]
    assert chat.requests == []


async def test_check_leaves_nothing_open_and_agrees_with_what_was_settled(
    checker: StagedChecker, chat: FakeChat
) -> None:
    settled = await checker.settled("How long?", SENTENCES, SOURCES)
    checked = await checker.check("How long?", SENTENCES, SOURCES)
    assert [one.sentence for one in checked] == [s.text for s in SENTENCES]
    assert [one for one in settled if one] == [
        one for one, early in zip(checked, settled, strict=True) if early
    ]
    assert len(chat.requests) == 1


async def test_check_of_what_was_left_open_is_the_same(checker: StagedChecker) -> None:
    (alone,) = await checker.check("How long?", SENTENCES[1:2], SOURCES)
    assert alone == (await checker.check("How long?", SENTENCES, SOURCES))[1]


async def test_without_a_judge_nothing_is_left_open() -> None:
    alone = SentenceChecker(Unsure(), Bands(0.2, 0.8))
    settled = await alone.settled("How long?", SENTENCES, SOURCES)
    assert settled == await alone.check("How long?", SENTENCES, SOURCES)
    assert [one.supported for one in settled if one] == [True, *[False] * 4]


async def test_nothing_is_settled_of_nothing(checker: StagedChecker) -> None:
    assert await checker.settled("How long?", [], SOURCES) == []
    assert await checker.check("How long?", [], SOURCES) == []
