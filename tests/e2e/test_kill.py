"""kill -9 of `crag serve` while it ingests, deletes and answers over HTTP, with its own stores.

Each server is killed at a moment that is named by what it has acknowledged; the next one starts on
the data folder as the kill left it, and is looked at from outside.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest

from tests.crag_server import Server, http

BASE = "kb"
DOCUMENTS = f"/v1/knowledge-bases/{BASE}/documents"
VPN = "vpn.md"
QUESTION = {"question": "On which port does the VPN gateway listen?", "knowledge_base": BASE}
SECTIONS = 4
"""Of each document, each a passage of its own."""

MOMENTS = [
    pytest.param({"added": 1}, id="the base is new"),
    pytest.param({"updated": 2}, id="one was replaced"),
    pytest.param({"deleted": 2}, id="some were deleted"),
]
"""How many of each this server has acknowledged when it is killed; the next thing is under way."""


@dataclass
class Journal:
    """What clients know of each document: the version that was acknowledged last, None where it is
    deleted or never was, and those they sent since without an answer."""

    acknowledged: dict[str, int | None] = field(default_factory=dict)
    unanswered: dict[str, list[int | None]] = field(default_factory=dict)
    versions: Iterator[int] = field(default_factory=lambda: count(1))

    def may_be(self, source: str) -> set[int | None]:
        return {self.acknowledged.get(source), *self.unanswered.get(source, [])}

    def sent(self, source: str, version: int | None) -> None:
        self.unanswered.setdefault(source, []).append(version)

    def is_now(self, source: str, version: int | None) -> None:
        self.acknowledged[source], self.unanswered[source] = version, []

    @property
    def sources(self) -> set[str]:
        return {*self.acknowledged, *self.unanswered}


class Clients:
    """They add, replace, delete and ask, all at once, until their server is gone."""

    def __init__(self, client: httpx.AsyncClient, journal: Journal, enough: dict[str, int]) -> None:
        self._client = client
        self._journal = journal
        self._missing = Counter(enough)
        self._enough = asyncio.Event()
        self.answers: list[dict[str, Any]] = []

    async def work(self, kill: Callable[[], None]) -> None:
        """Raises what goes wrong before the kill."""
        parts = (self._adds(), self._replaces(), self._deletes(), self._asks(), self._watches())
        working = [asyncio.create_task(part) for part in parts]
        enough = asyncio.create_task(self._enough.wait())
        await asyncio.wait([enough, *working], return_when=asyncio.FIRST_COMPLETED)
        kill()
        enough.cancel()
        for ended in await asyncio.gather(*working, return_exceptions=True):
            if not isinstance(ended, httpx.TransportError):
                raise ended or AssertionError("a client stopped of itself")
        assert self._enough.is_set()

    async def _adds(self) -> None:
        while True:
            await self._put(f"new-{next(self._journal.versions)}.md")

    async def _replaces(self) -> None:
        while True:
            await self._put(VPN)

    async def _deletes(self) -> None:
        while True:
            source = f"gone-{next(self._journal.versions)}.md"
            document = await self._put(source)
            self._journal.sent(source, None)
            (await self._client.delete(f"{DOCUMENTS}/{document}")).raise_for_status()
            self._journal.is_now(source, None)
            self._count("deleted")

    async def _asks(self) -> None:
        while True:
            response = await self._client.post("/v1/ask", json=QUESTION)
            self.answers.append(response.raise_for_status().json())

    async def _watches(self) -> None:
        while True:
            async with self._client.stream("POST", "/v1/ask/stream", json=QUESTION) as stream:
                async for _ in stream.aiter_lines():
                    pass

    async def _put(self, source: str) -> str:
        version = next(self._journal.versions)
        self._journal.sent(source, version)
        response = await self._client.post(
            DOCUMENTS, params={"name": source}, content=text_of(source, version)
        )
        (result,) = response.raise_for_status().json()["files"]
        self._journal.is_now(source, version)
        self._count(result["state"])
        return str(result["document_id"])

    def _count(self, state: str) -> None:
        self._missing[state] -= 1
        if not +self._missing:
            self._enough.set()


def text_of(source: str, version: int) -> str:
    """Each section ends in a mark of its document, version and number."""
    said = f"The notes of {source} were taken in room {version}."
    if source == VPN:
        said = f"The VPN gateway is vpn.example.org and it listens on port {4000 + version}."
    marked = [f"{said} [{source} {version} {n}]" for n in range(SECTIONS)]
    sections = [f"## Part {n}\n\n{text}\n" for n, text in enumerate(marked)]
    return f"# {source}\n\n" + "\n".join(sections)


def ports_in(text: str) -> set[int]:
    return {int(told) for told in re.findall(r"port (\d+)", text)}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One data folder for all of its lives."""
    server = Server(tmp_path_factory.mktemp("kill"), {})
    try:
        server.start()
        created = http("POST", f"{server.url}/v1/knowledge-bases", json={"name": BASE})
        assert created.status_code == 201, created.text
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def journal(server: Server) -> Journal:
    """Of what its clients did in all of its lives; the document that they ask for is there."""
    journal = Journal()
    version = next(journal.versions)
    assert put(server, VPN, version) == "added"
    journal.is_now(VPN, version)
    return journal


@pytest.mark.timeout(400)
@pytest.mark.parametrize("moment", MOMENTS)
def test_what_was_acknowledged_is_there_once_and_whole(
    server: Server, journal: Journal, moment: dict[str, int]
) -> None:
    answers = asyncio.run(work_until(server, journal, moment))
    assert all(len(ports_in(answer["answer"])) <= 1 for answer in answers)
    server.start()
    for answer in answers[-2:]:
        assert get(server, f"/v1/runs/{answer['run_id']}")
    documents = get(server, DOCUMENTS)["documents"]
    assert len({document["source"] for document in documents}) == len(documents)
    for source in journal.sources - {document["source"] for document in documents}:
        assert None in journal.may_be(source), f"{source} is lost"
    for document in documents:
        source, version = document["source"], version_of(server, document)
        assert version in journal.may_be(source), f"{source} is {version}"
        journal.is_now(source, version)
    live = {(document["document_id"], document["revision"]) for document in documents}
    assert {(one["document_id"], one["revision"]) for one in searched(server, {})} <= live
    version = journal.acknowledged[VPN]
    assert version is not None
    answer = http("POST", f"{server.url}/v1/ask", json=QUESTION).json()
    assert (answer["outcome"], ports_in(answer["answer"])) == ("answered", {4000 + version})
    assert put(server, VPN, version) == "unchanged"
    cited = [(one["source"], one["start"], one["end"]) for one in answer["citations"]]
    assert {source for source, _, _ in cited} == {VPN}
    assert len(set(cited)) == len(cited)


async def work_until(
    server: Server, journal: Journal, moment: dict[str, int]
) -> list[dict[str, Any]]:
    """The answers until then."""
    async with httpx.AsyncClient(base_url=server.url, timeout=100, trust_env=False) as client:
        clients = Clients(client, journal, moment)
        await clients.work(server.kill)
    return clients.answers


def version_of(server: Server, document: dict[str, Any]) -> int:
    """The one version whose sections are all found, each once."""
    passages = searched(server, {"document_id": document["document_id"]})
    assert len(passages) == document["chunks"]
    assert {passage["revision"] for passage in passages} == {document["revision"]}
    marks = [mark for p in passages for mark in re.findall(r"\[(\S+) (\d+) (\d)\]", p["text"])]
    version = int(marks[0][1])
    whole = [(document["source"], str(version), str(n)) for n in range(SECTIONS)]
    assert sorted(marks) == whole
    return version


def put(server: Server, source: str, version: int) -> str:
    """The state that the server tells."""
    url, content = f"{server.url}{DOCUMENTS}?name={source}", text_of(source, version)
    (result,) = http("POST", url, content=content).raise_for_status().json()["files"]
    return str(result["state"])


def searched(server: Server, filters: dict[str, str]) -> list[dict[str, Any]]:
    """Every passage, as far as 100 go."""
    question = {"question": "notes of the room and the port", "limit": 100, "filters": filters}
    response = http("POST", f"{server.url}/v1/search", json=question | {"knowledge_base": BASE})
    found: list[dict[str, Any]] = response.raise_for_status().json()["results"]
    return found


def get(server: Server, path: str) -> dict[str, Any]:
    found: dict[str, Any] = http("GET", server.url + path).raise_for_status().json()
    return found
