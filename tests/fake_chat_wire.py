"""How a chat completion looks on the wire, whole and streamed, as OpenAI's API describes it."""

import math
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]

UNLIKELY = -20.0
LETTERS = string.ascii_lowercase


@dataclass(frozen=True)
class Reply:
    """What the model says; `first` are the probabilities of its first token, where they matter."""

    text: str
    first: dict[str, float] = field(default_factory=dict)
    refusal: str | None = None
    finish: str = "stop"


def whole(body: Body, reply: Reply) -> Body:
    """The answer in one piece."""
    content = reply.text if reply.refusal is None else None
    choice: Body = {
        "index": 0,
        "message": {"role": "assistant", "content": content, "refusal": reply.refusal},
        "finish_reason": reply.finish,
        "logprobs": None,
    }
    if body.get("logprobs"):
        choice["logprobs"] = {"content": logprobs(body, reply), "refusal": None}
    return envelope("chat.completion", body) | {"choices": [choice], "usage": usage(body, reply)}


def stream_events(body: Body, reply: Reply) -> Iterator[Body]:
    """The events of a stream: the role, a token each, why it ended, and the usage where asked."""
    head = envelope("chat.completion.chunk", body)

    def event(delta: Body, finish: str | None = None, logprob: object = None) -> Body:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": logprob}
        return head | {"choices": [choice]}

    yield event({"role": "assistant", "content": ""})
    if reply.refusal is not None:
        yield event({"refusal": reply.refusal})
    chances = logprobs(body, reply) if body.get("logprobs") else []
    for n, token in enumerate(tokens(reply.text)):
        yield event({"content": token}, None, {"content": chances[n : n + 1]} if chances else None)
    yield event({}, reply.finish)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield head | {"choices": [], "usage": usage(body, reply)}


def envelope(kind: str, body: Body) -> Body:
    return {"id": "chatcmpl-fake", "object": kind, "created": 0, "model": body.get("model", "fake")}


def usage(body: Body, reply: Reply) -> Body:
    """Tokens as this server counts them: words with the space before them."""
    prompt = sum(len(tokens(str(m.get("content") or ""))) for m in body.get("messages", []))
    said = len(tokens(reply.text))
    return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}


def logprobs(body: Body, reply: Reply) -> list[Body]:
    """For each token its chance and the likeliest others; only the first token has any."""
    top = int(body.get("top_logprobs") or 0)
    rows = []
    for n, token in enumerate(tokens(reply.text)):
        chances = reply.first if n == 0 and reply.first else {token: 1.0}
        ranked = sorted(chances.items(), key=lambda item: (-item[1], item[0]))
        alternatives = [_chance(other, p) for other, p in ranked[:top]]
        rows.append(_chance(token, chances.get(token, 0.0)) | {"top_logprobs": alternatives})
    return rows


def _chance(token: str, probability: float) -> Body:
    logprob = math.log(probability) if probability > 0 else UNLIKELY
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def embeddings(body: Body) -> Body:
    """Counts of the letters a to z: the same text gets the same vector."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [
        {"object": "embedding", "index": n, "embedding": [float(text.count(c)) for c in LETTERS]}
        for n, text in enumerate(texts)
    ]
    used = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": body.get("model"), "usage": used}


def tokens(text: str) -> list[str]:
    """Words, each with the space before it: joined they are the text."""
    return re.findall(r"\s*\S+|\s+$", text)
