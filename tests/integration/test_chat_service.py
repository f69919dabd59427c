"""A service with a chat model: what a client that leaves ends, what doctor and program say."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver

from api.settings import Settings
from graph.adapters.checkpoints import plain_serializer
from graph.builder import build
from graph.compose import Service
from graph.runner import Runner
from ingest.data_folder import DataFolder, Holder
from ingest.pipeline import ingest_upload
from ingest.scope import LOCAL
from nodes.ports import GradedPassages
from nodes.prompts import PROMPT_VERSION
from tests.api_clients import served, settings_on
from tests.api_fakes import FakeEmbedder, FakeService, small_corpus
from tests.chat_runs import REFUNDS, chat_ports, two_passages, use_of
from tests.fake_chat import FakeChat, Fault
from tests.fakes import FakeGrader, a_grade, a_run_log

pytestmark = pytest.mark.timeout(60)
BASE = "kb"


class ChatService:
    """The real runner on a small corpus in memory, with the chat model before its ports."""

    def __init__(self, chat: FakeChat) -> None:
        self._chat = chat

    def __call__(
        self, settings: Settings, holder: Holder | None = None
    ) -> AbstractAsyncContextManager[Service]:
        return self._open(settings, holder)

    @asynccontextmanager
    async def _open(self, settings: Settings, holder: Holder | None) -> AsyncIterator[Service]:
        folder = DataFolder(settings.data_dir, holder)
        corpus = small_corpus(folder, FakeEmbedder())
        await corpus.writer.create_knowledge_base(LOCAL, BASE)
        await ingest_upload(
            "refunds.md",
            REFUNDS.encode(),
            scope=LOCAL,
            knowledge_base=BASE,
            index=corpus.index,
            writer=corpus.writer,
        )
        scorer = FakeGrader(lambda found: GradedPassages([a_grade("ambiguous") for _ in found]))
        inner = replace(two_passages(grader=scorer), index=corpus.index)
        services = chat_ports(self._chat, inner=inner)
        runs = a_run_log()
        graph = build(services, InMemorySaver(serde=plain_serializer()))
        runner = Runner(
            graph=graph,
            index=corpus.index,
            bases=corpus.bases,
            runs=runs,
            settings=settings,
            calibration="none",
        )
        try:
            yield Service(runner, graph, corpus, runs, services, settings)
        finally:
            await services.close()
            runs.close()
            folder.close()


@pytest.fixture
def address(chat: FakeChat, tmp_path: Path) -> Iterator[str]:
    with served(settings_on(tmp_path), cast(FakeService, ChatService(chat))) as url:
        yield url


ASK = {"question": "How long do refunds take?", "knowledge_base": BASE}


def test_an_answer_tells_what_the_chat_model_cost(chat: FakeChat, address: str) -> None:
    answer = httpx.post(f"{address}/v1/ask", json=ASK, timeout=20).json()
    assert answer["outcome"] == "answered"
    assert answer["budget"]["chat_calls"] == {"used": 3, "limit": 20}
    assert answer["budget"]["tokens"]["used"] > 0
    graded = next(entry for entry in answer["trace"] if entry["node"] == "grade_documents")
    assert graded["summary"]["prompts"] == PROMPT_VERSION


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/ask/stream"])
@pytest.mark.parametrize("use", ["grade", "generate", "ground"])
def test_a_client_that_leaves_ends_the_call_within_a_second(
    chat: FakeChat, address: str, use: str, path: str
) -> None:
    chat.fault_of = lambda body: Fault("hang") if use_of(body) == use else None
    leaving = threading.Thread(target=ask_until_told_to_leave, args=(chat, address + path, use))
    leaving.start()
    leaving.join(20)
    until = time.monotonic() + 1
    while time.monotonic() < until and not chat.requests[-1].disconnected:
        time.sleep(0.01)
    assert use_of(chat.requests[-1].body) == use
    assert chat.requests[-1].disconnected
    time.sleep(0.2)
    assert use_of(chat.requests[-1].body) == use, "the run went on without its client"


def ask_until_told_to_leave(chat: FakeChat, url: str, use: str) -> None:
    """Sends the question and closes the connection once the model is asked for `use`."""
    body = json.dumps(ASK).encode()
    host, _, rest = url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    head = (
        f"POST /{rest} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((name, int(port))) as connection:
        connection.sendall(head.encode() + body)
        until = time.monotonic() + 15
        while time.monotonic() < until:
            if chat.requests and use_of(chat.requests[-1].body) == use:
                break
            time.sleep(0.01)


def crag(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("CRAG_", "OPENAI_"))}
    return subprocess.run(
        [sys.executable, "-m", "crag", *arguments],
        env=outside | settings | {"CRAG_DATA_DIR": str(folder / "data")},
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
    )


def test_an_unknown_provider_is_one_clear_line_everywhere(tmp_path: Path) -> None:
    settings = {"CRAG_CHAT__MODEL": "nope:x"}
    asked = crag(tmp_path, "ask", "Anything?", "--kb", BASE, **settings)
    assert asked.returncode == 2
    said = [line for line in asked.stderr.splitlines() if line.strip()]
    step, line = said  # what it waits for, then why it ends
    assert step.startswith("opening the data folder ")
    assert "'nope:x' is no provider:name" in line
    report = json.loads(crag(tmp_path, "doctor", "--json", **settings).stdout)
    assert f"crag: {report['problems'][0]}" == line
    assert report["chat"]["state"] == "cannot be used, see below"


def doctor(**settings: Any) -> tuple[dict[str, Any], str]:
    from api.doctor_chat import chat_line, chat_report
    from graph.settings import ChatSettings

    report = chat_report(ChatSettings(**settings), [])
    return report, chat_line(report)


def test_doctor_tells_the_model_and_not_its_key() -> None:
    report, line = doctor(
        model="openai:big", lite_model="openai:small", base_url="http://h/v1", api_key="sk-secret"
    )
    assert line == (
        "openai:big, lite openai:small at http://h/v1, batched verdicts, key set: "
        "its client is installed"
    )
    assert "sk-secret" not in str(report)


def test_doctor_tells_that_a_local_server_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert doctor(model="openai:x", base_url="http://h/v1")[1].endswith(
        "no key: its client is installed"
    )
    assert doctor()[1] == "off: CRAG_CHAT__MODEL is not set; answers are extracted"


def test_doctor_tells_a_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert doctor(model="openai:x")[1].endswith("no key: cannot be used, see below")
