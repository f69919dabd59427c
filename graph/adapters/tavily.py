"""The web through Tavily; every failure is one DependencyError that names its kind."""

import asyncio
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from tavily import AsyncTavilyClient
from tavily.errors import (
    BadRequestError,
    ForbiddenError,
    InvalidAPIKeyError,
    UsageLimitExceededError,
)
from tavily.errors import (
    TimeoutError as TavilyTimeout,
)

from graph.settings import WebSettings
from ingest.errors import DependencyError, DependencyTimeout
from nodes.ports import WebResult

MAX_CONTENT = 20_000
"""Characters of a page that are read; far more than what is graded of it."""

KINDS: dict[type[Exception], str] = {
    BadRequestError: "web_bad_request",
    InvalidAPIKeyError: "web_invalid_key",
    ForbiddenError: "web_plan_limit",
    UsageLimitExceededError: "web_rate_limited",
}


class TavilySearch:
    """Results only from allowed domains, with their text; addresses are http or https."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings

    @property
    def missing(self) -> str:
        return "" if self._settings.tavily_api_key else "CRAG_WEB__TAVILY_API_KEY is not set"

    async def search(self, query: str) -> list[WebResult]:
        key = self._settings.tavily_api_key
        if not key:  # an empty one would search without any, as the SDK does then
            raise DependencyError(self.missing, code="not_configured")
        try:
            # The SDK's own timeout is for each read: an answer that drips would never end.
            async with asyncio.timeout(self._settings.timeout_s):
                answer = await self._answer(key.get_secret_value(), query)
        except Exception as error:
            raise _explained(error) from error
        allowed = [r for r in _results(answer) if self._allowed(r.url)]
        return allowed[: self._settings.results]

    async def _answer(self, key: str, query: str) -> object:
        client = AsyncTavilyClient(api_key=key, api_base_url=self._settings.base_url)
        try:
            return await client.search(
                query,
                max_results=self._settings.results,
                include_domains=self._settings.allow,
                exclude_domains=self._settings.deny,
                timeout=self._settings.timeout_s,
            )
        finally:
            await client.close()

    def _allowed(self, url: str) -> bool:
        host = public_host(url)
        if not host:
            return False
        if any(_within(host, domain) for domain in self._settings.deny):
            return False
        allow = self._settings.allow
        return not allow or any(_within(host, domain) for domain in allow)


def public_host(url: str) -> str:
    """The host of a web address; empty for anything else and for an address of a private net."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower().rstrip(".")
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or host.endswith(("localhost", ".local", ".internal")):
        return ""
    try:
        return host if ip_address(host).is_global else ""
    except ValueError:
        return host


def _explained(error: Exception) -> DependencyError:
    if isinstance(error, TavilyTimeout | TimeoutError):
        return DependencyTimeout("the web search did not answer in time")
    kind = KINDS.get(type(error))
    if kind is None:
        return DependencyError(f"the web search failed: {type(error).__name__}")
    return DependencyError(f"the web search refused: {str(error)[:120]}", code=kind)


def _within(host: str, domain: str) -> bool:
    return host == domain.lower() or host.endswith("." + domain.lower())


def _results(answer: object) -> list[WebResult]:
    """Whatever the service sends, only entries with an address and a text are results."""
    entries = answer.get("results") if isinstance(answer, Mapping) else None
    if not isinstance(entries, list):
        raise DependencyError("the web search sent no result list", code="web_bad_answer")
    return [
        WebResult(
            str(e["url"]),
            str(e.get("title") or e["url"])[:200],
            " ".join(e["content"][:MAX_CONTENT].split()),
        )
        for e in entries
        if isinstance(e, Mapping)
        and isinstance(e.get("url"), str)
        and isinstance(e.get("content"), str)
        and e["content"].strip()
    ]
