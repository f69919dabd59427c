"""One call of a chat model: what comes back, what it cost, and how it fails."""

import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from graph.adapters.chat_model import ChatModel, NoVerdict
from graph.settings import ChatSettings
from ingest.errors import ConfigurationError, DependencyError, DependencyTimeout
from ingest.loaders.normalise import printable
from nodes.budget import BudgetSpent, metered
from nodes.context import Context
from nodes.prompts import Answering
from nodes.state import Spent, State
from tests.chat_runs import chat_model
from tests.fake_chat import FakeChat, Reply

ASK = [("system", "You are told something."), ("human", "Say it.")]
GOOD = '{"answering": [2]}'

Call = Callable[[ChatModel], Awaitable[Any]]
CALLS: dict[str, Call] = {
    "text": lambda model: model.text(ASK, max_tokens=30),
    "yes": lambda model: model.yes(ASK),
    "structured": lambda model: model.structured(ASK, Answering, max_tokens=30),
}


@pytest.fixture(autouse=True)
def script(chat: FakeChat) -> None:
    chat.script = lambda body: (
        Reply("Yes", {"Yes": 0.75, "No": 0.25}) if body.get("logprobs") else GOOD
    )


async def test_tells_text_a_probability_and_a_form(chat: FakeChat) -> None:
    asked = chat_model(chat)
    assert await CALLS["text"](asked) == GOOD
    assert await CALLS["yes"](asked) == pytest.approx(0.75)
    assert await CALLS["structured"](asked) == Answering(answering=[2])


async def test_limits_each_reply_and_asks_for_the_likeliest(chat: FakeChat) -> None:
    for call in CALLS.values():
        await call(chat_model(chat))
    text, yes, structured = [request.body for request in chat.requests]
    assert [b["max_tokens"] for b in (text, yes, structured)] == [30, 1, 30]
    assert not any("max_completion_tokens" in body for body in (text, yes, structured))
    assert all(body["temperature"] == 0 for body in (text, yes, structured))
    assert (yes["logprobs"], yes["top_logprobs"]) == (True, 10)
    assert structured["response_format"]["json_schema"]["strict"] is True


async def test_a_reasoning_model_may_think_and_has_no_temperature(chat: FakeChat) -> None:
    chat.script = lambda body: "no"
    reasoning = chat_model(chat, model="openai:gpt-5-mini")
    assert await CALLS["yes"](reasoning) == 0.0
    body = chat.requests[0].body
    assert "temperature" not in body and "logprobs" not in body
    assert body["max_completion_tokens"] > 1000


@pytest.mark.parametrize(
    ("first", "yes"),
    [
        ({"Yes": 0.6, "yes": 0.2, "No": 0.2}, 0.8),
        ({" ja": 0.5, "Nein": 0.5}, 0.5),
        ({"Maybe": 0.9, "no": 0.1}, 0.0),
    ],
)
async def test_weighs_yes_against_no_alone(
    chat: FakeChat, first: dict[str, float], yes: float
) -> None:
    chat.script = lambda body: Reply(max(first, key=lambda token: first[token]), first)
    assert await CALLS["yes"](chat_model(chat)) == pytest.approx(yes)


async def test_counts_calls_tokens_and_their_price(chat: FakeChat) -> None:
    chat.script = lambda body: "one two three"
    priced = chat_model(chat, usd_per_million_input=2.0, usd_per_million_output=10.0)
    with metered(State(), Context()) as meter:
        await CALLS["text"](priced)
    assert meter.spent == Spent(chat_calls=1, tokens=6 + 3, usd=pytest.approx(42e-6))


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        *[("refusal", use) for use in CALLS],
        ("cut_off", "text"),
        ("cut_off", "structured"),
        ("bad_json", "yes"),
        ("bad_json", "structured"),
    ],
)
async def test_what_is_no_answer_is_no_verdict_and_its_tokens_count(
    chat: FakeChat, kind: Any, use: str
) -> None:
    chat.breaks(kind)
    with metered(State(), Context()) as meter, pytest.raises(NoVerdict):
        await CALLS[use](chat_model(chat, retries=1))
    assert (len(chat.requests), meter.spent.chat_calls) == (1, 1)
    assert meter.spent.tokens >= 6


@pytest.mark.parametrize("said", ["", "  ", "Perhaps. Yes and no.", "0 of 2"])
async def test_prose_is_no_verdict(chat: FakeChat, said: str) -> None:
    chat.script = lambda body: said
    for use in ("yes", "structured"):
        with pytest.raises(NoVerdict):
            await CALLS[use](chat_model(chat))


@pytest.mark.parametrize("said", ["[2]", '{"answering": "two"}', '{"answering": null}', "{}"])
async def test_json_of_another_form_is_no_verdict(chat: FakeChat, said: str) -> None:
    chat.script = lambda body: said
    with pytest.raises(NoVerdict):
        await CALLS["structured"](chat_model(chat))


@pytest.mark.parametrize("said", ["A\ud800 \x1bB\u200b.", "\udfff", "\u200b\udc80"])
async def test_what_cannot_be_encoded_or_seen_comes_from_no_reply(
    chat: FakeChat, said: str
) -> None:
    """Escaped in the JSON of a form, or a character of the reply itself."""
    chat.script = lambda body: f"{said} [1]"
    told = [await CALLS["text"](chat_model(chat))]
    for escaped in (True, False):
        form = json.dumps({"answering": [1], "query": said}, ensure_ascii=escaped)
        chat.script = lambda body, form=form: form  # type: ignore[misc]
        told.append((await CALLS["structured"](chat_model(chat))).query)
    assert all(one == printable(one) for one in told)
    "".join(told).encode()


async def test_an_error_that_quotes_what_cannot_be_encoded_can_be_told(chat: FakeChat) -> None:
    chat.breaks("status", status=400, message="no such \ud800 model")
    with pytest.raises(DependencyError) as failed:
        await CALLS["text"](chat_model(chat))
    assert "model" in failed.value.message.encode().decode()


async def test_json_in_a_code_block_is_read(chat: FakeChat) -> None:
    chat.script = lambda body: f"Here:\n```json\n{GOOD}\n```"
    assert await CALLS["structured"](chat_model(chat)) == Answering(answering=[2])


@pytest.mark.parametrize("use", CALLS)
@pytest.mark.parametrize("kind", ["status", "close"])
async def test_retries_as_often_as_set_and_no_more(chat: FakeChat, kind: Any, use: str) -> None:
    chat.breaks(kind, times=9)
    with metered(State(), Context()) as meter, pytest.raises(DependencyError):
        await CALLS[use](chat_model(chat, retries=1))
    assert len(chat.requests) == 2
    assert meter.spent.chat_calls == 1


async def test_waits_as_long_as_the_server_asks(chat: FakeChat) -> None:
    chat.fails(429, retry_after="0.3")
    began = time.monotonic()
    assert await CALLS["text"](chat_model(chat, retries=1)) == GOOD
    assert time.monotonic() - began >= 0.3
    assert len(chat.requests) == 2


async def test_a_wait_longer_than_the_timeout_is_not_waited(chat: FakeChat) -> None:
    chat.fails(429, times=9, retry_after="30")
    began = time.monotonic()
    with pytest.raises(DependencyTimeout):
        await CALLS["text"](chat_model(chat, retries=5, timeout_s=0.5))
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("kind", ["hang", "drip"])
async def test_does_not_wait_longer_than_the_timeout(chat: FakeChat, kind: Any) -> None:
    chat.breaks(kind, times=9)
    with pytest.raises(DependencyTimeout):
        await CALLS["text"](chat_model(chat, retries=3, timeout_s=0.5))
    assert len(chat.requests) == 1


async def test_garbage_is_a_failed_dependency(chat: FakeChat) -> None:
    chat.breaks("garbage", times=9)
    for call in CALLS.values():
        with pytest.raises(DependencyError) as failed:
            await call(chat_model(chat))
        assert failed.value.code == "dependency_down"


@pytest.mark.parametrize("limit", [{"chat_calls": 0}, {"tokens": 0}])
async def test_a_spent_budget_makes_no_call(chat: FakeChat, limit: dict[str, int]) -> None:
    with metered(State(), Context(**limit)), pytest.raises(BudgetSpent):
        await CALLS["text"](chat_model(chat))
    assert chat.requests == []


async def test_a_call_cut_by_the_deadline_is_budget(chat: FakeChat) -> None:
    chat.breaks("hang")
    late = State(started_at=time.time())
    with metered(late, Context(deadline_s=0.4)), pytest.raises(BudgetSpent):
        await CALLS["text"](chat_model(chat))


async def test_what_earlier_nodes_spent_counts(chat: FakeChat) -> None:
    before = State(spent=Spent(chat_calls=3))
    with metered(before, Context(chat_calls=4)):
        await CALLS["text"](chat_model(chat))
        with pytest.raises(BudgetSpent):
            await CALLS["text"](chat_model(chat))
    assert len(chat.requests) == 1


async def test_a_key_is_sent_and_never_told(chat: FakeChat) -> None:
    keyed = chat_model(chat, api_key="sk-secret")
    await CALLS["text"](keyed)
    assert chat.requests[0].key == "Bearer sk-secret"
    chat.fails(401)
    with pytest.raises(DependencyError) as failed:
        await CALLS["text"](keyed)
    assert "sk-secret" not in failed.value.message


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "nope:x"}, "CRAG_CHAT__MODEL: 'nope:x' is no provider:name"),
        ({"model": "gpt-5"}, "known providers: openai, anthropic, google_genai, ollama"),
        ({"model": "openai:"}, "CRAG_CHAT__MODEL: 'openai:' is no provider:name"),
        ({"model": "openai:x"}, "CRAG_CHAT__API_KEY"),
    ],
)
def test_what_cannot_work_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError) as failed:
        ChatModel(given["model"], ChatSettings(**given))
    assert said in failed.value.message
    assert "\n" not in failed.value.message


@pytest.mark.parametrize(
    ("provider", "extra"),
    [("anthropic", "anthropic"), ("google_genai", "google"), ("ollama", "ollama")],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, provider: str, extra: str
) -> None:
    def missing(*args: Any, **more: Any) -> Any:
        raise ImportError("Initializing needs a package")

    monkeypatch.setattr("langchain.chat_models.init_chat_model", missing)
    lite = f"{provider}:small"
    with pytest.raises(ConfigurationError) as failed:
        ChatModel(lite, ChatSettings(model="openai:x", lite_model=lite))
    assert failed.value.message == (
        f"CRAG_CHAT__LITE_MODEL: {provider} needs `pip install 'corrective-rag[{extra}]'`"
    )
