"""The embedded stack under a detector of blocking calls: nothing holds up the event loop."""

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from blockbuster import BlockingError, blockbuster_ctx
from pydantic import SecretStr

from graph.compose import Service, open_graph
from graph.runner import Ask
from graph.settings import BudgetSettings, GraphSettings, WebSettings
from ingest.pipeline import ingest, ingest_upload
from ingest.scope import LOCAL
from tests.fake_tavily import FakeTavily, fake_tavily

DOCUMENTS = {
    "vpn.md": "# VPN Access\n\nThe VPN gateway is vpn.example.org and it listens on port 4500.\n",
    "leave.md": "# Parental Leave\n\nEvery parent can take 16 weeks of paid parental leave.\n",
}
ANSWERED = "On which port does the VPN gateway listen?"
NOWHERE = "Who invented the Quendrel compressor?"


@pytest.fixture
def tavily() -> Iterator[FakeTavily]:
    with fake_tavily() as server:
        yield server


async def ask(service: Service, question: str) -> tuple[str, set[str]]:
    """The outcome and the nodes; a blocking call that a fallback caught would be in `degraded`."""
    answer = await service.runner.ask(Ask(question, "kb", thread_id="a conversation"))
    assert answer.degraded == []
    return answer.outcome, {entry["node"] for entry in answer.as_json()["trace"]}


async def test_detects_a_blocking_call() -> None:
    with blockbuster_ctx(), pytest.raises(BlockingError):
        time.sleep(0)  # noqa: ASYNC251


@pytest.fixture
async def service(store_path: Path, tavily: FakeTavily) -> AsyncIterator[Service]:
    """Opened before anything is detected: it serves nobody yet."""
    web = WebSettings(tavily_api_key=SecretStr("tvly-test"), base_url=tavily.url)
    folder, no_deadline = store_path / "crag", BudgetSettings(deadline_s=None)
    settings = GraphSettings(data_dir=folder, web=web, budget=no_deadline)
    async with open_graph(settings) as service:
        yield service


async def test_nothing_blocks_from_a_folder_to_an_answer(service: Service, tmp_path: Path) -> None:
    for source, text in DOCUMENTS.items():
        (tmp_path / source).write_text(text)
    index, writer = service.corpus.index, service.corpus.writer
    with blockbuster_ctx():
        await writer.create_knowledge_base(LOCAL, "kb", web=True)
        parts = {"scope": LOCAL, "knowledge_base": "kb", "index": index, "writer": writer}
        assert (await ingest(tmp_path, **parts)).count("added") == len(DOCUMENTS)
        await ingest_upload("more.md", b"# More\n\nIt is more.\n", **parts)
        outcome, nodes = await ask(service, ANSWERED)
        assert (outcome, "web_search" in nodes) == ("answered", False)
        outcome, nodes = await ask(service, NOWHERE)
        assert outcome == "refused"
        assert {"rewrite_query", "web_search", "decline"} <= nodes
        await service.runner.delete_thread(LOCAL, "a conversation")
