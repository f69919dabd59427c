"""Asks from the command line: in this process, or through the server that holds the folder."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from ingest.errors import InvalidRequest
from ingest.filters import Filters
from ingest.loaders.normalise import printable
from ingest.scope import LOCAL
from ingest.terminal import say

if TYPE_CHECKING:
    from graph.compose import Service
    from graph.settings import GraphSettings
    from ingest.remote import Client

MAX_QUESTION = 4_000
"""Code points; a longer text is a document, not a question."""
THREAD_ID = "[A-Za-z0-9._:-]{1,128}"

OnNode = Callable[[dict[str, Any]], None]
"""Told each trace entry as its node ends."""


def checked(question: str, thread_id: str | None) -> str:
    """The printable question, within the bounds of every way in. Raises InvalidRequest."""
    if not printable(question).strip() or len(question) > MAX_QUESTION:
        raise InvalidRequest(f"a question has 1 to {MAX_QUESTION} characters and is not blank")
    if any("\ud800" <= char <= "\udfff" for char in question):
        raise InvalidRequest("the question is no valid UTF-8 text")
    if thread_id is not None and not re.fullmatch(THREAD_ID, thread_id):
        raise InvalidRequest("a thread id has 1 to 128 letters, digits, '.', '_', ':' and '-'")
    return printable(question)


def ask_here(
    settings: "GraphSettings",
    question: str,
    knowledge_base: str,
    thread_id: str | None,
    options: dict[str, Any],
    on_node: OnNode,
) -> dict[str, Any]:
    """The answer object. Raises what open_graph and the runner raise."""
    from graph.runner import Ask

    async def run() -> dict[str, Any]:
        answer: dict[str, Any] = {}
        ask = Ask(question, knowledge_base, thread_id=thread_id, options=options)
        async with _opened(settings) as service:
            async for event in service.runner.stream(ask):
                if event.type == "run":
                    # The run is accepted and its clock not started: loading is not its time.
                    await _loaded(service)
                elif event.type == "node":
                    on_node(event.data["entry"])
                elif event.type == "answer":
                    answer = event.data
        return answer

    return asyncio.run(run())


def ask_through(
    client: "Client",
    question: str,
    knowledge_base: str,
    thread_id: str | None,
    options: dict[str, Any],
    on_node: OnNode,
) -> dict[str, Any]:
    """The same answer object, from a running server."""
    answer: dict[str, Any] = {}
    body = {
        "question": question,
        "knowledge_base": knowledge_base.split(",") if "," in knowledge_base else knowledge_base,
        "thread_id": thread_id,
        "options": options,
    }
    for name, data in client.events("/v1/ask/stream", body):
        if name == "node":
            on_node(data)
        elif name == "answer":
            answer = data
    return answer


def search_here(
    settings: "GraphSettings", question: str, knowledge_base: str, limit: int
) -> dict[str, Any]:
    from graph.search import search

    async def run() -> dict[str, Any]:
        async with _opened(settings) as service:
            await service.corpus.bases.named(LOCAL, knowledge_base)
            await _loaded(service)
            return await search(
                service, LOCAL, knowledge_base, question, limit=limit, filters=Filters()
            )

    return asyncio.run(run())


def search_through(
    client: "Client", question: str, knowledge_base: str, limit: int
) -> dict[str, Any]:
    body = {"question": question, "knowledge_base": knowledge_base, "limit": limit}
    found: dict[str, Any] = client.json("POST", "/v1/search", body)
    return found


@asynccontextmanager
async def _opened(settings: "GraphSettings") -> "AsyncIterator[Service]":
    """Says what takes its time, as a server does."""
    say(f"opening the data folder {settings.data_dir}", sys.stderr)
    from graph.compose import open_graph

    async with open_graph(settings) as service:
        yield service


async def _loaded(service: "Service") -> None:
    say("loading the models", sys.stderr)
    await service.load()
