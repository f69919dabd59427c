"""The web through Tavily; every failure is one DependencyError that names its kind."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
from tavily import AsyncTavilyClient
from tavily.errors import (
    BadRequestError,
    ForbiddenError,
    InvalidAPIKeyError,
    TimeoutError as TavilyTimeout,
    UsageLimitExceededError,
)

from graph.settings import WebSettings
from ingest.errors import DependencyError, DependencyTimeout
from nodes.ports import WebResult

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
        if key is None:
            raise DependencyError(self.missing, code="not_configured")
        client = AsyncTavilyClient(
            api_key=key.get_secret_value(), api_base_url=self._settings.base_url
        )
        try:
            answer = await client.search(
                query,
                max_results=self._settings.results,
                include_domains=self._settings.allow,
                exclude_domains=self._settings.deny,
                timeout=self._settings.timeout_s,
            )
        except TavilyTimeout as error:
            raise DependencyTimeout("the web search did not answer in time") from error
        except tuple(KINDS) as error:
            raise DependencyError(
                f"the web search refused: {str(error)[:120]}", code=KINDS[type(error)]
            ) from error
        except (httpx.HTTPError, ValueError) as error:
            raise DependencyError(f"the web search failed: {type(error).__name__}") from error
        return [r for r in _results(answer) if self._allowed(r.url)]

    def _allowed(self, url: str) -> bool:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.scheme not in ("http", "https") or not host:
            return False
        if any(_within(host, domain) for domain in self._settings.deny):
            return False
        allow = self._settings.allow
        return not allow or any(_within(host, domain) for domain in allow)


def _within(host: str, domain: str) -> bool:
    return host == domain.lower() or host.endswith("." + domain.lower())


def _results(answer: object) -> list[WebResult]:
    """Whatever the service sends, only entries with an address and a text are results."""
    entries = answer.get("results") if isinstance(answer, Mapping) else None
    if not isinstance(entries, list):
        raise DependencyError("the web search sent no result list", code="web_bad_answer")
    return [
        WebResult(str(e["url"]), str(e.get("title") or e["url"])[:200], " ".join(e["content"].split()))
        for e in entries
        if isinstance(e, Mapping)
        and isinstance(e.get("url"), str)
        and isinstance(e.get("content"), str)
        and e["content"].strip()
    ]
