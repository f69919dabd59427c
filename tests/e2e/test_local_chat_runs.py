"""The whole service with a small real chat model over the true protocol. It answers badly: what is
held is that every run ends in a typed outcome, and that its calls and tokens are counted."""

from pathlib import Path

import pytest

from graph.compose import open_graph
from graph.runner import Ask
from graph.settings import BudgetSettings, ChatSettings, GraphSettings
from ingest.pipeline import ingest_upload
from ingest.scope import LOCAL
from nodes.state import Turn

pytestmark = pytest.mark.timeout(400)

BASE = "small"
DOCUMENT = b"""# VPN Access

## Setup

The VPN gateway is vpn.example.org and it listens on port 4500.

## Passwords

Passwords for the VPN expire after 90 days.
"""
QUESTION = "On which port does it listen?"
HISTORY = [Turn("What is the VPN gateway?", "It is vpn.example.org.")]


@pytest.mark.parametrize("verdicts", ["batched", "logprob"])
async def test_a_run_ends_in_a_typed_outcome(
    local_chat_url: str, store_path: Path, verdicts: str
) -> None:
    settings = GraphSettings(
        data_dir=store_path / "crag",
        budget=BudgetSettings(deadline_s=200),
        chat=ChatSettings(
            model="openai:smollm2",
            base_url=local_chat_url,
            verdicts=verdicts,
            timeout_s=60,
            answer_tokens=60,
        ),
    )
    async with open_graph(settings) as service:
        index, writer = service.corpus.index, service.corpus.writer
        await writer.create_knowledge_base(LOCAL, BASE)
        await ingest_upload(
            "vpn.md", DOCUMENT, scope=LOCAL, knowledge_base=BASE, index=index, writer=writer
        )
        answer = await service.runner.ask(Ask(QUESTION, BASE, history=HISTORY))
        for citation in answer.citations:
            text = await index.text(LOCAL, BASE, citation.document_id, citation.revision)
            assert text is not None
            assert text[citation.start : citation.end] == citation.quote
    assert answer.outcome in ("answered", "answered_partially", "refused")
    assert (answer.reason is None) == (answer.outcome != "refused")
    assert answer.budget["chat_calls"]["used"] >= 1
    assert answer.budget["tokens"]["used"] > 50
    assert all(entry.status != "error" for entry in answer.trace if entry.node != "check_grounding")
    told = {fault.kind for fault in answer.degraded}
    assert told <= {"no_verdict"}, answer.degraded
