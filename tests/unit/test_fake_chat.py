"""The fake chat model does what a test tells it, seen by a real HTTP client."""

import asyncio
import json
import math
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import validate

from tests.fake_chat import FakeChat, Fault, Reply, fake_chat

PASSAGE = "Refunds are paid within 5 business days. Returns are free."
QUESTION = "When are refunds paid?"
GRADE = f"<passage>{PASSAGE}</passage>\nQuestion: {QUESTION}\nDoes it answer? Say yes or no."


@pytest.fixture
def chat() -> Iterator[FakeChat]:
    with fake_chat() as server:
        yield server


def prompt(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "fake", "messages": [{"role": "user", "content": text}], **more}


def post(chat: FakeChat, text: str = QUESTION, timeout: float = 5, **more: Any) -> httpx.Response:
    url = f"{chat.url}/chat/completions"
    return httpx.post(url, json=prompt(text, **more), timeout=timeout)


def choice(response: httpx.Response) -> dict[str, Any]:
    (only,) = response.json()["choices"]
    return only  # type: ignore[no-any-return]


def events(chat: FakeChat, **more: Any) -> list[str]:
    url = f"{chat.url}/chat/completions"
    with httpx.stream("POST", url, json=prompt(QUESTION, stream=True, **more)) as response:
        return [line[6:] for line in response.iter_lines() if line]


def test_lists_its_model(chat: FakeChat) -> None:
    assert httpx.get(f"{chat.url}/models").json()["data"][0]["id"] == "fake"


def test_quotes_the_first_sentence_of_the_first_passage(chat: FakeChat) -> None:
    said = post(chat, f"[1] {PASSAGE}\n[2] Other.\n\nQuestion: {QUESTION}")
    assert choice(said)["message"]["content"] == "Refunds are paid within 5 business days. [1]"
    assert said.json()["usage"] == {
        "prompt_tokens": 18,
        "completion_tokens": 8,
        "total_tokens": 26,
    }


@pytest.mark.parametrize(("question", "sure"), [(QUESTION, 0.95), ("Who built the bridge?", 0.05)])
def test_says_yes_where_passage_and_question_share_words(
    chat: FakeChat, question: str, sure: float
) -> None:
    text = GRADE.replace(QUESTION, question)
    got = choice(post(chat, text, logprobs=True, top_logprobs=5, max_tokens=1))
    (first,) = got["logprobs"]["content"]
    chances = {other["token"]: math.exp(other["logprob"]) for other in first["top_logprobs"]}
    assert chances == pytest.approx({"Yes": sure, "No": 1 - sure})
    assert got["message"]["content"] == max(chances, key=lambda token: chances[token])


def test_fills_a_schema_with_a_least_instance(chat: FakeChat) -> None:
    schema = {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["correct", "incorrect"]},
            "score": {"type": "number", "minimum": 0.5},
            "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "parts": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/part"}},
        },
        "required": ["verdict", "score", "note", "parts"],
        "$defs": {"part": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    said = json.loads(choice(post(chat, response_format=wanted))["message"]["content"])
    validate(said, schema)
    assert said["parts"] == [{"n": 0}, {"n": 0}]


def test_streams_tokens_then_the_reason_then_the_usage(chat: FakeChat) -> None:
    chat.script = lambda body: "one two three"
    *parts, done = events(chat, stream_options={"include_usage": True}, logprobs=True)
    assert done == "[DONE]"
    *deltas, finish, usage = [json.loads(part) for part in parts]
    said = [event["choices"][0]["delta"]["content"] for event in deltas]
    assert said == ["", "one", " two", " three"]
    assert deltas[1]["choices"][0]["logprobs"]["content"][0]["token"] == "one"
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert usage["usage"]["completion_tokens"] == 3


def test_a_script_decides_by_the_request(chat: FakeChat) -> None:
    chat.script = lambda body: Reply(body["model"], first={"a": 0.5, "b": 0.5})
    assert choice(post(chat))["message"]["content"] == "fake"
    assert chat.requests[0].body["messages"][0]["content"] == QUESTION


def test_waits_before_every_answer(chat: FakeChat) -> None:
    chat.latency_s = 0.2
    began = time.monotonic()
    post(chat)
    assert 0.2 <= time.monotonic() - began < 0.5


def test_fails_so_many_times_then_works(chat: FakeChat) -> None:
    chat.fails(429, times=2, retry_after="7")
    assert [post(chat).status_code for _ in range(3)] == [429, 429, 200]
    chat.fails(429, retry_after="7")
    assert post(chat).headers["Retry-After"] == "7"
    chat.fails(500)
    assert post(chat).status_code == 500


def test_cuts_off_half_way(chat: FakeChat) -> None:
    chat.script = lambda body: "one two three four"
    chat.breaks("cut_off")
    got = choice(post(chat))
    assert (got["message"]["content"], got["finish_reason"]) == ("one two", "length")


def test_stops_at_the_tokens_that_it_may_say(chat: FakeChat) -> None:
    chat.script = lambda body: "one two three four"
    got = choice(post(chat, max_completion_tokens=3))
    assert (got["message"]["content"], got["finish_reason"]) == ("one two three", "length")


def test_writes_json_that_does_not_parse(chat: FakeChat) -> None:
    chat.breaks("bad_json")
    with pytest.raises(json.JSONDecodeError):
        json.loads(choice(post(chat))["message"]["content"])


def test_refuses(chat: FakeChat) -> None:
    chat.breaks("refusal", times=2)
    message = choice(post(chat))["message"]
    assert message["content"] is None
    assert message["refusal"]
    assert any('"refusal"' in event for event in events(chat))


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_does_not_answer_in_time(chat: FakeChat, kind: Any) -> None:
    chat.breaks(kind)
    url = f"{chat.url}/chat/completions"

    async def ask() -> None:
        async with httpx.AsyncClient() as client, asyncio.timeout(0.3):
            await client.post(url, json=prompt(QUESTION), timeout=None)

    with pytest.raises(TimeoutError):
        asyncio.run(ask())
    assert left(chat)


def test_a_drip_gives_the_whole_answer_in_the_end(chat: FakeChat) -> None:
    chat.breaks("drip", pace_s=0.0001)
    assert choice(post(chat))["finish_reason"] == "stop"


def test_answers_with_garbage(chat: FakeChat) -> None:
    chat.breaks("garbage", times=2)
    with pytest.raises(json.JSONDecodeError):
        post(chat).json()
    with pytest.raises(json.JSONDecodeError):
        json.loads(events(chat)[0])


def test_closes_the_connection(chat: FakeChat) -> None:
    chat.breaks("close")
    with pytest.raises(httpx.RemoteProtocolError):
        post(chat)


def test_stops_in_the_middle_of_a_stream(chat: FakeChat) -> None:
    chat.script = lambda body: "one two three"
    chat.breaks("close", after=2)
    assert len(events(chat)) == 2
    chat.breaks("hang", after=2)
    with pytest.raises(httpx.ReadTimeout):
        events_in_time(chat)
    assert left(chat)


def events_in_time(chat: FakeChat) -> None:
    body = prompt(QUESTION, stream=True)
    url = f"{chat.url}/chat/completions"
    with httpx.stream("POST", url, json=body, timeout=httpx.Timeout(5, read=0.3)) as response:
        list(response.iter_lines())


def left(chat: FakeChat) -> bool:
    """The server saw within a second that the client of its last call was gone."""
    until = time.monotonic() + 1
    while time.monotonic() < until and not chat.requests[-1].disconnected:
        time.sleep(0.01)
    return chat.requests[-1].disconnected and chat.requests[-1].ended is not None


def test_a_fault_can_be_chosen_by_the_request(chat: FakeChat) -> None:
    chat.fault_of = lambda body: Fault("status", 500) if body["model"] == "lite" else None
    assert post(chat).status_code == 200
    assert post(chat, model="lite").status_code == 500


async def test_counts_the_calls_that_run_at_once(chat: FakeChat) -> None:
    chat.latency_s = 0.1
    url = f"{chat.url}/chat/completions"
    async with httpx.AsyncClient() as client:
        await asyncio.gather(*(client.post(url, json=prompt(QUESTION)) for _ in range(10)))
    assert chat.most_at_once() == 10


def test_is_told_over_http_where_it_runs_alone(chat: FakeChat) -> None:
    httpx.post(chat.url.replace("/v1", "/fake/faults"), json={"kind": "status", "status": 503})
    assert post(chat).status_code == 503
    seen = httpx.get(chat.url.replace("/v1", "/fake/requests")).json()
    assert seen[0]["body"]["model"] == "fake"


class TestOpenAI:
    """The vendor's own client reads it, and raises its own errors."""

    def client(self, chat: FakeChat, **more: Any) -> Any:
        openai = pytest.importorskip("openai", reason="the openai client is not installed")
        return openai.OpenAI(base_url=chat.url, api_key="test", **more)

    def create(self, client: Any, **more: Any) -> Any:
        return client.chat.completions.create(**prompt(QUESTION, **more))

    def test_reads_answer_stream_and_usage(self, chat: FakeChat) -> None:
        with self.client(chat) as client:
            assert self.create(client).choices[0].message.content == "I don't know."
            stream = self.create(client, stream=True, stream_options={"include_usage": True})
            *_, last = stream
        assert last.usage.completion_tokens == 3
        assert chat.requests[0].key == "Bearer test"

    def test_tries_again_after_429(self, chat: FakeChat) -> None:
        chat.fails(429, retry_after="0.1")
        with self.client(chat) as client:
            self.create(client)
        assert len(chat.requests) == 2

    @pytest.mark.parametrize("kind", ["status", "hang", "close", "garbage"])
    def test_raises(self, chat: FakeChat, kind: Any) -> None:
        chat.breaks(kind)
        with (
            self.client(chat, max_retries=0, timeout=0.3) as client,
            pytest.raises(Exception, match=r".") as error,
        ):
            self.create(client).choices[0].message.content.strip()
        assert error.type.__name__ in (
            "InternalServerError",
            "APITimeoutError",
            "APIConnectionError",
            "JSONDecodeError",
            "AttributeError",
        )
