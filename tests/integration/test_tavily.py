"""Tavily over real HTTP: each answer is results, or one DependencyError that names its kind."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from graph.adapters.tavily import TavilySearch
from graph.settings import WebSettings
from ingest.errors import DependencyError, DependencyTimeout
from nodes.ports import WebResult
from tests.fake_tavily import PAGE, FakeTavily, fake_tavily


@pytest.fixture
def tavily() -> Iterator[FakeTavily]:
    with fake_tavily() as server:
        yield server


def searching(tavily: FakeTavily, **settings: Any) -> TavilySearch:
    key = SecretStr("tvly-test-key")
    given = {"tavily_api_key": key, "base_url": tavily.url, "timeout_s": 5.0} | settings
    return TavilySearch(WebSettings(**given))


async def urls(tavily: FakeTavily, **settings: Any) -> list[str]:
    return [r.url for r in await searching(tavily, **settings).search("refunds")]


async def test_gives_results(tavily: FakeTavily) -> None:
    (result,) = await searching(tavily).search("how long do refunds take")
    assert result == WebResult(PAGE["url"], "Refunds", PAGE["content"])  # type: ignore[arg-type]


async def test_sends_the_question_the_limits_and_the_key(tavily: FakeTavily) -> None:
    settings = {"results": 3, "allow": ["example.org"], "deny": ["spam.example"]}
    await searching(tavily, **settings).search("how long?")
    (request,) = tavily.requests
    assert request["query"] == "how long?"
    assert request["max_results"] == 3
    assert request["include_domains"] == ["example.org"]
    assert request["exclude_domains"] == ["spam.example"]
    assert tavily.keys == ["Bearer tvly-test-key"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "web_bad_request"),
        (401, "web_invalid_key"),
        (403, "web_plan_limit"),
        (429, "web_rate_limited"),
        (432, "web_plan_limit"),
        (433, "web_plan_limit"),
        (500, "dependency_down"),
        (503, "dependency_down"),
        (204, "dependency_down"),
        (302, "dependency_down"),
    ],
)
async def test_a_refusal_is_one_error_with_its_kind(
    tavily: FakeTavily, status: int, kind: str
) -> None:
    tavily.fails(status, "x" * 1_000)
    with pytest.raises(DependencyError) as error:
        await searching(tavily).search("refunds")
    assert error.value.code == kind
    assert len(error.value.message) < 200
    assert "tvly-test-key" not in error.value.message


@pytest.mark.parametrize("trouble", ["hangs", "drips"])
async def test_an_answer_that_does_not_come_in_time_is_a_timeout(
    tavily: FakeTavily, trouble: str
) -> None:
    getattr(tavily, trouble)()
    started = time.monotonic()
    with pytest.raises(DependencyTimeout):
        await searching(tavily, timeout_s=0.3).search("refunds")
    assert time.monotonic() - started < 3


async def test_nobody_there_is_a_dependency_that_is_down() -> None:
    with fake_tavily() as gone:
        pass
    with pytest.raises(DependencyError) as error:
        await searching(gone).search("refunds")
    assert error.value.code == "dependency_down"


@pytest.mark.parametrize("base_url", ["http://[", "nonsense"])
def test_an_address_that_is_none_is_refused_at_start(base_url: str) -> None:
    with pytest.raises(ValidationError, match="base_url"):
        WebSettings(tavily_api_key=SecretStr("k"), base_url=base_url)


@pytest.mark.parametrize("base_url", ["http://localhost:1", "http://127.0.0.1:99999"])
async def test_an_address_where_nobody_can_be_is_a_dependency_that_is_down(base_url: str) -> None:
    search = TavilySearch(WebSettings(tavily_api_key=SecretStr("k"), base_url=base_url))
    with pytest.raises(DependencyError):
        await search.search("refunds")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'"text"',
        b"7",
        b'{"results": null}',
        b'{"results": {"url": "https://example.org"}}',
        b'{"results": "text"}',
        b"[" * 100_000,
    ],
)
async def test_a_body_that_is_no_result_list_is_one_error(tavily: FakeTavily, body: bytes) -> None:
    tavily.says(body)
    with pytest.raises(DependencyError):
        await searching(tavily).search("refunds")


@pytest.mark.parametrize("status", [400, 401, 429, 500])
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"detail": "text"}', b'"text"'])
async def test_a_refusal_of_another_shape_is_the_same_refusal(
    tavily: FakeTavily, status: int, body: bytes
) -> None:
    tavily.says(body, status)
    with pytest.raises(DependencyError):
        await searching(tavily).search("refunds")


async def test_no_results_are_no_results(tavily: FakeTavily) -> None:
    for body in (b"{}", b'{"results": []}'):
        tavily.says(body)
        assert await urls(tavily) == []


async def test_only_whole_results_count(tavily: FakeTavily) -> None:
    tavily.gives(
        None,
        "text",
        7,
        [],
        {},
        {"url": "https://a.example"},
        {"content": "no address"},
        {"url": None, "content": "x"},
        {"url": "https://b.example", "content": None},
        {"url": "https://c.example", "content": "  \n "},
        {"url": 7, "content": "x"},
        {"url": "https://d.example", "content": "untitled", "title": None},
        PAGE,
    )
    results = await searching(tavily).search("refunds")
    assert [r.url for r in results] == ["https://d.example", PAGE["url"]]
    assert results[0].title == "https://d.example"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://example.org",
        "//example.org",
        "example.org",
        "http://",
        "https:///path",
        "http://[::1",
        "http://[bad]/",
        "",
    ],
)
async def test_only_web_addresses_are_cited(tavily: FakeTavily, url: str) -> None:
    tavily.gives(PAGE | {"url": url}, PAGE)
    assert await urls(tavily) == [PAGE["url"]]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "169.254.169.254", "10.0.0.8", "192.168.1.1", "[::1]", "localhost", "0.0.0.0"],
)
async def test_a_private_address_is_no_result_of_the_public_web(
    tavily: FakeTavily, host: str
) -> None:
    tavily.gives(PAGE | {"url": f"http://{host}/latest"}, PAGE)
    assert await urls(tavily) == [PAGE["url"]]


async def test_domains_are_allowed_and_denied_whole(tavily: FakeTavily) -> None:
    hosts = ["example.org", "docs.example.org", "notexample.org", "example.org.evil.com"]
    tavily.gives(*(PAGE | {"url": f"https://{host}/"} for host in hosts))
    assert await urls(tavily, allow=["Example.org"]) == [
        "https://example.org/",
        "https://docs.example.org/",
    ]
    assert await urls(tavily, deny=["example.org"]) == [
        "https://notexample.org/",
        "https://example.org.evil.com/",
    ]
    assert await urls(tavily, allow=["example.org"], deny=["docs.example.org"]) == [
        "https://example.org/"
    ]


async def test_a_huge_body_is_results_or_one_error(tavily: FakeTavily) -> None:
    tavily.gives(PAGE | {"content": "word " * 1_000_000}, PAGE)
    try:
        results = await searching(tavily).search("refunds")
    except DependencyError:
        return
    assert len(results) == 2


async def test_many_results_are_bounded_by_what_was_asked_for(tavily: FakeTavily) -> None:
    tavily.gives(*(PAGE | {"url": f"https://example.org/{n}"} for n in range(200)))
    assert len(await urls(tavily, results=4)) == 4


async def test_text_is_plain_and_on_one_line(tavily: FakeTavily) -> None:
    tavily.gives(PAGE | {"content": "  one\n\n two\t three ", "title": "T" * 500})
    (result,) = await searching(tavily).search("refunds")
    assert result.text == "one two three"
    assert len(result.title) == 200


@pytest.mark.parametrize("key", [None, SecretStr("")])
async def test_without_a_key_nothing_is_sent(
    tavily: FakeTavily, key: SecretStr | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-of-another-program")
    search = searching(tavily, tavily_api_key=key)
    assert "CRAG_WEB__TAVILY_API_KEY" in search.missing
    with pytest.raises(DependencyError) as error:
        await search.search("refunds")
    assert error.value.code == "not_configured"
    assert tavily.requests == []


def test_the_fake_speaks_as_tavily_does() -> None:
    assert set(PAGE) >= {"url", "title", "content"}
    assert json.dumps(PAGE)
