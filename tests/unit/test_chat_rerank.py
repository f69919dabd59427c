"""A chat model orders candidates by scores or by a list; what it cannot say is counted."""

import json
from dataclasses import replace
from typing import Any

import pytest

from graph.adapters.chat_rerank import ChatReranker
from graph.compose import open_reranker
from graph.settings import GraphSettings, RerankSettings
from ingest.documents import Candidate
from ingest.errors import ConfigurationError
from tests.chat_runs import chat_model, chat_ports
from tests.fake_chat import FakeChat, Fault, Reply
from tests.fakes import FakeGrader, FakeIndex, FakeReranker, a_candidate
from tests.runs import kinds, ports, run

QUESTION = "How long do refunds take?"
SCORES = {"a": 2, "b": 9, "c": 5}


def found(names: str = "abcd") -> list[Candidate]:
    return [a_candidate(name, f"Passage {name}.", fused=1 - n / 10) for n, name in enumerate(names)]


def made(chat: FakeChat, *, listwise: bool = False, **changed: Any) -> ChatReranker:
    given = {"listwise": listwise, "logprob": False, "depth": 3} | changed
    return ChatReranker(FakeReranker(), chat_model(chat), **given)


def ids(candidates: list[Candidate]) -> str:
    return "".join(c.chunk.chunk_id for c in candidates)


def passage_of(body: Any) -> str:
    return next(n for n in "abcd" if f"Passage {n}." in body["messages"][-1]["content"])


async def test_pointwise_by_scores_and_what_is_not_read_stays_behind(chat: FakeChat) -> None:
    chat.script = lambda body: json.dumps({"score": SCORES[passage_of(body)]})
    ordered = await made(chat).rerank(QUESTION, found())
    assert ids(ordered) == "bcad"
    assert [c.scores.get("chat") for c in ordered] == [0.9, 0.5, 0.2, None]
    assert len(chat.requests) == 3
    scores = [c.scores["rerank"] for c in ordered]
    assert scores == sorted(scores, reverse=True)


async def test_one_token_by_its_probability(chat: FakeChat) -> None:
    weights = {"a": 0.1, "b": 0.8, "c": 0.6}
    chat.script = lambda body: Reply("Yes", {"Yes": (p := weights[passage_of(body)]), "No": 1 - p})
    assert ids(await made(chat, logprob=True).rerank(QUESTION, found())) == "bcad"


@pytest.mark.parametrize(
    ("ranking", "order", "unnamed"),
    [
        ([3, 1, 2], "cabd", 0),
        ([3, 3, 9, 0, 1], "cabd", 1),  # twice, unknown, and b left out: between above and below
        ([2], "bacd", 2),
    ],
)
async def test_listwise_by_a_list(
    chat: FakeChat, ranking: list[int], order: str, unnamed: int
) -> None:
    chat.script = lambda body: json.dumps({"ranking": ranking})
    ordered = await made(chat, listwise=True).rerank(QUESTION, found())
    assert ids(ordered) == order
    assert sum("no_verdict" in c.scores for c in ordered) == unnamed
    assert len(chat.requests) == 1


@pytest.mark.parametrize("reply", ['{"score": 11}', '{"score": -1}', "ten", '{"score": "x"}'])
async def test_what_is_no_score_is_no_verdict(chat: FakeChat, reply: str) -> None:
    chat.script = lambda body: reply if passage_of(body) == "a" else '{"score": 4}'
    ordered = await made(chat).rerank(QUESTION, found())
    assert ids(ordered) == "abcd"
    assert [c.chunk.chunk_id for c in ordered if "no_verdict" in c.scores] == ["a"]


@pytest.mark.parametrize("listwise", [True, False])
@pytest.mark.parametrize("kind", ["status", "bad_json", "refusal", "cut_off"])
async def test_no_verdict_at_all_keeps_the_order_of_retrieval(
    chat: FakeChat, kind: Any, listwise: bool
) -> None:
    chat.script = lambda body: '{"score": 4, "ranking": [2]}'
    chat.fault_of = lambda body: Fault(kind)
    reranker = made(chat, listwise=listwise)
    state = await run(ports(index=FakeIndex(found()), reranker=reranker))
    expected = "dependency_down" if kind == "status" else "no_verdict"
    assert kinds(state) == [("rerank", expected)]
    assert state.degraded[0].fallback == "order of retrieval"
    assert ids(state.candidates) == "abcd"
    assert state.outcome == "answered"


async def test_the_trace_counts_what_got_no_verdict(chat: FakeChat) -> None:
    chat.script = lambda body: '{"ranking": [1]}'
    state = await run(ports(index=FakeIndex(found()), reranker=made(chat, listwise=True)))
    (summary,) = [entry.summary for entry in state.trace if entry.node == "rerank"]
    assert (summary["no_verdict"], summary["chat_calls"]) == (2, 1)
    assert kinds(state) == []


async def test_a_run_may_name_the_order_and_without_a_chat_model_keeps_the_services(
    chat: FakeChat,
) -> None:
    chat.script = lambda body: '{"ranking": [2]}' if "Ranking" in str(body) else '{"score": 5}'
    plain = ports(index=FakeIndex(found()), reranker=FakeReranker(), grader=FakeGrader({}))
    by_chat = {"pointwise": made(chat), "listwise": made(chat, listwise=True)}
    services = replace(plain, by_chat=by_chat)
    for option, order, calls in (
        ("listwise", "bacd", 1),
        ("pointwise", "abcd", 3),
        ("", "abcd", 0),
    ):
        chat.requests.clear()
        state = await run(services, chat_rerank=option, rewrites=0)
        assert (ids(state.candidates), len(chat.requests)) == (order, calls)
        (summary,) = [entry.summary for entry in state.trace if entry.node == "rerank"]
        assert ("chat" in summary["top"][0]) == bool(calls)
    assert ids((await run(plain, chat_rerank="listwise", rewrites=0)).candidates) == "abcd"


async def test_the_service_composes_both_orders(chat: FakeChat) -> None:
    services = chat_ports(chat, inner=ports())
    assert services.by_chat is not None and set(services.by_chat) == {"pointwise", "listwise"}
    assert isinstance(services.reranker, FakeReranker)


async def test_an_order_takes_half_of_the_calls_that_are_left(chat: FakeChat) -> None:
    chat.script = lambda body: '{"score": 5}'
    services = ports(index=FakeIndex(found()), reranker=made(chat))
    assert (await run(services, chat_calls=4)).spent.chat_calls == 2
    state = await run(services, chat_calls=1)
    assert kinds(state) == [("rerank", "budget")]


async def test_nothing_is_nothing(chat: FakeChat) -> None:
    assert await made(chat).rerank(QUESTION, []) == []
    assert chat.requests == []


def test_without_a_chat_model_it_is_a_configuration_error() -> None:
    settings = GraphSettings(rerank=RerankSettings(kind="chat_listwise"))
    with pytest.raises(ConfigurationError, match="CRAG_RERANK__KIND=chat_listwise needs"):
        open_reranker(settings, None)
