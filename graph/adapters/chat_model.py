"""A chat model of any provider: one call, metered, with its failures as errors of this service."""

import asyncio
import json
import math
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from graph.settings import ChatSettings
from ingest.errors import ConfigurationError, DependencyError, DependencyTimeout
from ingest.loaders.normalise import printable, printable_json
from nodes.budget import PASSED, BudgetSpent, meter
from nodes.prompts import Message, sealed

T = TypeVar("T", bound=BaseModel)

EXTRAS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google_genai": "google",
    "ollama": "ollama",
}
"""Extras of this package by provider."""

LIMITS = {"ollama": "num_predict", "google_genai": "max_output_tokens"}
"""What a provider calls the most tokens of a reply, where it is not max_tokens."""

THOUGHTS = 2_000
"""Tokens that a reasoning model may think before a reply: they count towards its limit."""

CHARACTERS = 3.5
"""Code points of a token, for what is sent and was not counted by the provider."""

YES, NO = ("yes", "ja", "sí"), ("no", "nein")


class NoVerdict(DependencyError):
    """The model answered, but not what was asked for: bad JSON, a refusal, cut off, or nothing."""

    code = "no_verdict"


class ChatModel:
    """Calls are counted before they are made; retries are the client's own and no other layer's."""

    def __init__(self, name: str, settings: ChatSettings) -> None:
        self.name = name
        self._provider = name.partition(":")[0]
        self._settings = settings
        self._model = _initialised(name, settings)
        profile = getattr(self._model, "profile", None) or {}
        self._reasons = bool(profile.get("reasoning_output"))

    async def close(self) -> None:
        """Ends its connections; no call may follow."""
        client = getattr(self._model, "root_async_client", None)
        if client is not None:
            await client.close()

    async def text(self, messages: Sequence[Message], *, max_tokens: int) -> str:
        """The reply. Raises NoVerdict where it is cut off or empty, and what a call raises."""
        reply = await self._call(self._limited(max_tokens), messages)
        finish = reply.response_metadata.get("finish_reason") or reply.response_metadata.get(
            "stop_reason"
        )
        if finish in ("length", "max_tokens"):
            raise NoVerdict("the chat model's reply was cut off")
        said = printable(reply.text if isinstance(reply.text, str) else reply.text()).strip()
        if not said:
            raise NoVerdict("the chat model said nothing")
        return said

    async def yes(self, messages: Sequence[Message]) -> float:
        """The probability of yes against no as the first token, in [0, 1].

        Where the provider gives no log probabilities, 1 or 0 by the word. Raises NoVerdict where
        neither stands there.
        """
        told = self._provider == "openai" and not self._reasons
        asked = {"logprobs": True, "top_logprobs": 10} if told else {}
        reply = await self._call(self._limited(1).bind(**asked), messages)
        logprobs = (reply.response_metadata.get("logprobs") or {}).get("content") or []
        options = logprobs[0].get("top_logprobs") or logprobs[:1] if logprobs else []
        weights = {True: 0.0, False: 0.0}
        for option in options:
            verdict = _word(option["token"])
            if verdict is not None:
                weights[verdict] += math.exp(option["logprob"])
        if sum(weights.values()) > 0:
            return weights[True] / sum(weights.values())
        said = _word(str(reply.content))
        if said is None:
            raise NoVerdict("the chat model said neither yes nor no")
        return float(said)

    async def structured(self, messages: Sequence[Message], form: type[T], *, max_tokens: int) -> T:
        """The reply by schema. Raises as `text`."""
        if self._provider == "openai":
            # In the extra body: for a schema that it knows of, the library's own parser raises
            # where a reply is cut off, and what the call cost is lost.
            structured = self._limited(max_tokens, response_format=_schema(form))
        else:
            structured = self._limited(max_tokens).with_structured_output(form, include_raw=True)
        reply = await self._call(structured, messages)
        try:
            given = reply if isinstance(reply, form) else json.loads(_json(str(reply.text)))
            content = given.model_dump() if isinstance(given, form) else given
            return form.model_validate(printable_json(content))
        except (ValueError, RecursionError) as error:
            raise NoVerdict(f"the chat model's reply is no {form.__name__}") from error

    async def _call(self, model: Any, messages: Sequence[Message]) -> Any:
        spending = meter()
        spending.begin_call()
        seconds = spending.seconds_left(self._settings.timeout_s)
        try:
            async with asyncio.timeout(seconds):
                reply = await model.ainvoke(sealed(messages))
        except TimeoutError as error:
            if seconds < self._settings.timeout_s:
                raise BudgetSpent(PASSED) from error
            raise DependencyTimeout(f"{self.name} did not answer in {seconds:.1f} s") from error
        except Exception as error:
            said = printable(f"{self.name}: {type(error).__name__}: {error}")
            raise DependencyError(said) from error
        parsed = None
        if isinstance(reply, dict):
            reply, parsed = reply["raw"], reply["parsed"]
        spending.add(*self._price(messages, reply))
        if parsed is not None:
            return parsed
        if reply.additional_kwargs.get("refusal"):
            raise NoVerdict("the chat model refused")
        return reply

    def _price(self, messages: Sequence[Message], reply: Any) -> tuple[int, float]:
        usage = reply.usage_metadata or {}
        sent = usage.get("input_tokens") or sum(estimated(text) for _, text in messages)
        received = usage.get("output_tokens") or estimated(str(reply.content))
        settings = self._settings
        usd = sent * settings.usd_per_million_input + received * settings.usd_per_million_output
        return sent + received, usd / 1e6

    def _limited(self, max_tokens: int, **body: Any) -> Any:
        """The model with this limit and as little chance as it allows; `body` is for OpenAI alone.

        A copy with other fields: not every client takes them as arguments of a call.
        """
        openai = self._provider == "openai"
        thinks = self._reasons and self._provider in ("openai", "google_genai")
        limit = max_tokens + thinks * THOUGHTS
        changed: dict[str, Any] = {}
        if openai and self._settings.base_url and not thinks:
            # OpenAI's newer name for it, which its client sends, is ignored by some local servers.
            body["max_tokens"] = limit
        else:
            changed[LIMITS.get(self._provider, "max_tokens")] = limit
        if body:
            changed["extra_body"] = body
        if not (openai and thinks):  # those take no temperature
            changed["temperature"] = 0
        return self._model.model_copy(update=changed)


def estimated(text: str) -> int:
    """Tokens of a text, by its length."""
    return math.ceil(len(text) / CHARACTERS)


def _word(token: str) -> bool | None:
    word = token.strip(" \n\t.,!\"'").casefold()
    if word in YES:
        return True
    return False if word in NO else None


def _schema(form: type[BaseModel]) -> dict[str, Any]:
    schema = {**form.model_json_schema(), "additionalProperties": False}
    schema["required"] = list(schema["properties"])  # strict schemas know no optional field
    return {
        "type": "json_schema",
        "json_schema": {"name": form.__name__, "schema": schema, "strict": True},
    }


def _json(text: str) -> str:
    """The object in a reply: some models wrap it in a code block."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _initialised(name: str, settings: ChatSettings) -> Any:
    """Raises ConfigurationError, in one line, for an unknown provider, a package or a key that is
    missing."""
    from langchain.chat_models import init_chat_model

    variable = "CRAG_CHAT__MODEL" if name == settings.model else "CRAG_CHAT__LITE_MODEL"
    provider, _, bare = name.partition(":")
    if provider not in EXTRAS or not bare:
        known = ", ".join(EXTRAS)
        raise ConfigurationError(
            f"{variable}: {name!r} is no provider:name; known providers: {known}"
        )
    given: dict[str, Any] = {"timeout": settings.timeout_s, "max_retries": settings.retries}
    if settings.base_url:
        given["base_url"] = settings.base_url
    if settings.api_key:
        given["api_key"] = settings.api_key.get_secret_value()
    elif settings.base_url and provider == "openai":
        given["api_key"] = "none"  # a local server asks for none, the client for one
    if provider == "ollama":
        # Its own window is smaller than a prompt may be, and it cuts silently.
        given = {"num_ctx": settings.context_tokens}
        given |= {"base_url": settings.base_url} if settings.base_url else {}
    try:
        if provider == "openai":
            given["http_async_client"] = _own_connections()
        return init_chat_model(name, **given)
    except ImportError as error:
        raise ConfigurationError(
            f"{variable}: {provider} needs `pip install 'corrective-rag[{EXTRAS[provider]}]'`"
        ) from error
    except Exception as error:
        said = " ".join(str(error).split())
        raise ConfigurationError(
            f"{variable}: {name}: {said} (or set CRAG_CHAT__API_KEY)"
            if _asks_for_key(said)
            else f"{variable}: {name}: {said}"
        ) from error


def _own_connections() -> Any:
    """Not the library's, which all models of a process share: those can never be closed."""
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient()


def _asks_for_key(said: str) -> bool:
    return any(word in said.casefold() for word in ("api_key", "api key", "credentials"))
