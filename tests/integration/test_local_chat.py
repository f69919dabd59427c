"""The protocol as a real model server speaks it, so that the fake one is held to it."""

import json
import math
from typing import Any

import httpx
import pytest

from tests.fake_chat import fake_chat

SCHEMA = {
    "type": "object",
    "properties": {"supported": {"type": "boolean"}, "why": {"enum": ["quoted", "missing"]}},
    "required": ["supported", "why"],
    "additionalProperties": False,
}
YES_NO = "The sky is blue. Question: Is the sky blue? Answer with one word, yes or no."


@pytest.fixture(params=["local", "fake"])
def url(request: pytest.FixtureRequest) -> Any:
    if request.param == "local":
        yield request.getfixturevalue("local_chat_url")
    else:
        with fake_chat() as chat:
            yield chat.url


def prompt(text: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": "any", "messages": messages, "temperature": 0, "max_tokens": 12, **more}


def complete(url: str, text: str, **more: Any) -> dict[str, Any]:
    response = httpx.post(f"{url}/chat/completions", json=prompt(text, **more), timeout=60)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_lists_a_model(url: str) -> None:
    assert httpx.get(f"{url}/models").json()["data"][0]["id"]


def test_answers_and_counts_tokens(url: str) -> None:
    answer = complete(url, "Say hello.")
    (choice,) = answer["choices"]
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["content"].strip()
    assert choice["finish_reason"] in ("stop", "length")
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


def test_one_token_ends_by_length(url: str) -> None:
    (choice,) = complete(url, YES_NO, max_tokens=1)["choices"]
    assert choice["finish_reason"] == "length"


def test_streams_what_it_says_then_why_it_ended_then_the_usage(url: str) -> None:
    body = prompt("Say hello.", stream=True, stream_options={"include_usage": True})
    with httpx.stream("POST", f"{url}/chat/completions", json=body, timeout=60) as response:
        lines = [line for line in response.iter_lines() if line]
    assert all(line.startswith("data: ") for line in lines)
    *parts, done = [line.removeprefix("data: ") for line in lines]
    assert done == "[DONE]"
    *said, usage = [json.loads(part) for part in parts]
    assert "".join(event["choices"][0]["delta"].get("content") or "" for event in said).strip()
    assert said[-1]["choices"][0]["finish_reason"] in ("stop", "length")
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] > 0


def test_tells_the_probabilities_of_the_first_token(url: str) -> None:
    asked = {"max_tokens": 1, "logprobs": True, "top_logprobs": 10}
    (choice,) = complete(url, YES_NO, **asked)["choices"]
    (first,) = choice["logprobs"]["content"]
    chances = {other["token"]: math.exp(other["logprob"]) for other in first["top_logprobs"]}
    assert first["token"] in chances
    assert sum(chances.values()) == pytest.approx(1, abs=0.2)
    assert {"yes", "no"} & {token.strip().lower() for token in chances}


def test_keeps_to_a_json_schema(url: str) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "v", "schema": SCHEMA, "strict": True}}
    (choice,) = complete(url, YES_NO, response_format=wanted, max_tokens=40)["choices"]
    verdict = json.loads(choice["message"]["content"])
    assert isinstance(verdict["supported"], bool)
    assert verdict["why"] in ("quoted", "missing")
