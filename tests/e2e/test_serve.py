"""`crag serve` as it is used: a process of its own, the real model, HTTP, and a Tavily that obeys.

Nothing is imported from the service: what is checked is what a client on the other side sees.
"""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.crag_server import Server, http
from tests.fake_tavily import FakeTavily, fake_tavily

KEY = "tvly-key-of-the-test"
BASE = "small"

DOCUMENTS = {
    "refunds.md": """# Refund Policy

## When the money is paid

Refunds are paid within 5 business days after the warehouse has checked the goods in.

## Shipping costs

Customers pay the return shipping costs unless the goods were damaged.
""",
    "leave.md": """# Parental Leave

## Duration

Every parent can take 16 weeks of paid parental leave. It must begin within the first year.

## Notice

Tell your manager at least 8 weeks before the leave begins.
""",
    "vpn.md": """# VPN Access

## Setup

The VPN gateway is vpn.example.org and it listens on port 4500.

## Passwords

Passwords for the VPN expire after 90 days.
""",
}
IN_A_DOCUMENT = "On which port does the VPN gateway listen?"
ON_THE_WEB = "When was the Halvorsen Bridge opened?"
NOWHERE = "Who invented the Quendrel compressor?"
WEB_PAGE = {
    "url": "https://example.org/halvorsen-bridge",
    "title": "Halvorsen Bridge",
    "content": "The Halvorsen Bridge was opened in 1932. It is 412 metres long.",
    "score": 0.9,
}

STRAIGHT = (
    "contextualize_question plan_queries retrieve rerank grade_documents generate "
    "estimate_confidence check_grounding"
).split()
"""The nodes of a run whose first search was enough."""


def body(question: str) -> dict[str, Any]:
    return {"question": question, "knowledge_base": BASE}


def ask(server: Server, question: str) -> dict[str, Any]:
    response = http("POST", f"{server.url}/v1/ask", json=body(question))
    assert response.status_code == 200, response.text
    assert KEY not in response.text
    answer: dict[str, Any] = response.json()
    return answer


def nodes_of(answer: dict[str, Any]) -> list[str]:
    return [entry["node"] for entry in answer["trace"]]


@pytest.fixture(scope="module")
def web() -> Iterator[FakeTavily]:
    with fake_tavily() as server:
        yield server


@pytest.fixture(autouse=True)
def tavily(web: FakeTavily) -> FakeTavily:
    """The one page, and nothing asked yet."""
    web.gives(WEB_PAGE)
    web.requests.clear()
    web.keys.clear()
    return web


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, web: FakeTavily) -> Iterator[Server]:
    """One for all tests, over a base that `crag ingest` filled and that may use the web."""
    folder = tmp_path_factory.mktemp("serve")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text)
    # Without kept answers: what is asked twice runs twice.
    settings = {"CRAG_WEB__TAVILY_API_KEY": KEY, "CRAG_WEB__BASE_URL": web.url}
    server = Server(folder, settings | {"CRAG_CACHE__ENABLED": "false"})
    for command in (["kb", "create", BASE, "--web"], ["ingest", str(documents), "--kb", BASE]):
        done = server.run(*command)
        assert done.returncode == 0, done.stderr
    try:
        server.start()
        yield server
    finally:
        server.kill()


def test_it_says_what_it_does_until_it_is_ready(server: Server) -> None:
    said = (server.folder / "serve.err").read_text()
    steps = [f"opening the data folder {server.folder / 'data'}", "loading the models", "ready aft"]
    assert [said.count(step) for step in steps] == [1, 1, 1]
    assert sorted(steps, key=said.index) == steps
    ready = (server.folder / "serve.out").read_text().splitlines()[0]
    assert server.url in ready and f"{server.url}/docs" in ready


@pytest.mark.parametrize(("path", "status"), [("/livez", "alive"), ("/readyz", "ready")])
def test_lives_and_is_ready(server: Server, path: str, status: str) -> None:
    response = http("GET", server.url + path)
    assert (response.status_code, response.json()) == (200, {"status": status})


def test_answers_from_a_document_and_quotes_it(server: Server, tavily: FakeTavily) -> None:
    answer = ask(server, IN_A_DOCUMENT)
    assert (answer["outcome"], answer["reason"]) == ("answered", None)
    assert "4500" in answer["answer"]
    (citation,) = answer["citations"]
    assert (citation["kind"], citation["title"]) == ("document", "VPN Access")
    assert "4500" in citation["quote"]
    assert citation["quote"] in DOCUMENTS["vpn.md"]
    assert nodes_of(answer) == STRAIGHT
    assert not answer["searched"]["web"]
    assert tavily.requests == []


def test_answers_from_the_web_what_no_document_says(server: Server, tavily: FakeTavily) -> None:
    answer = ask(server, ON_THE_WEB)
    assert (answer["outcome"], answer["degraded"]) == ("answered", [])
    assert "1932" in answer["answer"]
    (citation,) = answer["citations"]
    assert (citation["kind"], citation["url"]) == ("web", WEB_PAGE["url"])
    assert citation["quote"] in str(WEB_PAGE["content"])
    nodes = nodes_of(answer)
    assert nodes.index("rewrite_query") < nodes.index("web_search") < nodes.index("generate")
    assert [request["query"] for request in tavily.requests] == [answer["searched"]["web_sent"]]
    assert tavily.keys == [f"Bearer {KEY}"]


def test_refuses_what_nobody_answers_and_says_why(server: Server, tavily: FakeTavily) -> None:
    answer = ask(server, NOWHERE)
    assert answer["outcome"] == "refused"
    assert answer["reason"] in ("no_evidence", "ungrounded")
    assert (answer["citations"], answer["degraded"]) == ([], [])
    assert answer["searched"]["web"]
    assert len(tavily.requests) == 1
    assert nodes_of(answer)[-1] == "decline"


@pytest.mark.parametrize(("status", "kind"), [(401, "web_invalid_key"), (500, "dependency_down")])
def test_a_web_that_fails_is_named_in_the_answer(
    server: Server, tavily: FakeTavily, status: int, kind: str
) -> None:
    tavily.fails(status)
    answer = ask(server, ON_THE_WEB)
    assert len(tavily.requests) == 1
    assert answer["outcome"] == "refused"
    assert answer["citations"] == []
    assert [(d["node"], d["kind"]) for d in answer["degraded"]] == [("web_search", kind)]
    (entry,) = [entry for entry in answer["trace"] if entry["node"] == "web_search"]
    assert entry["status"] == "fallback"
    assert ask(server, IN_A_DOCUMENT)["outcome"] == "answered"


def test_streams_the_nodes_in_order_and_then_the_answer(server: Server) -> None:
    events: list[tuple[str, dict[str, Any]]] = []
    url, name = f"{server.url}/v1/ask/stream", ""
    with httpx.stream("POST", url, json=body(IN_A_DOCUMENT), timeout=60, trust_env=False) as stream:
        assert stream.status_code == 200
        for line in stream.iter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                events.append((name, json.loads(value)))
    names = [name for name, _ in events]
    assert names[0] == "run"
    assert names[-2:] == ["answer", "done"]
    entries = [data for name, data in events if name == "node"]
    assert [entry["node"] for entry in entries] == STRAIGHT
    assert [entry["seq"] for entry in entries] == list(range(1, len(STRAIGHT) + 1))
    answer = events[-2][1]
    assert answer["outcome"] == "answered"
    assert answer["trace"] == entries
    assert [data["text"] for name, data in events if name == "answer.delta"] == [answer["answer"]]
    assert answer["answer"] == ask(server, IN_A_DOCUMENT)["answer"]


def test_the_command_line_asks_through_the_server(server: Server) -> None:
    done = server.run("ask", IN_A_DOCUMENT, "--kb", BASE, "--trace")
    assert done.returncode == 0, done.stderr
    places = [done.stdout.index(f"  {node} ") for node in STRAIGHT]
    assert places == sorted(places)
    assert "port 4500. [1]" in done.stdout[places[-1] :]
    runs = http("GET", f"{server.url}/v1/runs").json()
    assert IN_A_DOCUMENT in json.dumps(runs)


def test_ends_on_sigterm_and_starts_again_on_the_same_data(server: Server) -> None:
    assert server.terminate() == 0, server.printed
    assert "Traceback" not in server.printed
    with pytest.raises(httpx.ConnectError):
        http("GET", f"{server.url}/livez")
    server.start()
    assert ask(server, IN_A_DOCUMENT)["outcome"] == "answered"
