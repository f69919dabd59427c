"""LangGraph Studio's server on langgraph.json, driven as Studio drives it, on the real model."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from ingest.fusion import Fusion
from nodes.context import Context

pytest.importorskip("langgraph_api", reason="langgraph-cli[inmem] is not installed")

pytestmark = pytest.mark.timeout(300)  # the first test waits for two starts and the model

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    "vpn.md": "# VPN Access\n\nThe VPN gateway is vpn.example.org and it listens on port 4500.\n",
    "leave.md": "# Parental Leave\n\nEvery parent can take 16 weeks of paid parental leave.\n",
}
QUESTION = {"question": "On which port does the VPN gateway listen?", "knowledge_base": "small"}
NOWHERE = {"question": "Who invented the Quendrel compressor?", "knowledge_base": "small"}
KEEP = 7
STARTS_WITHIN_S, ENDS_WITHIN_S = 90, 20
STRAIGHT = (
    "contextualize_question plan_queries retrieve rerank grade_documents generate "
    "estimate_confidence check_grounding"
).split()

State = dict[str, Any]


class Studio:
    """A running server with one assistant, and what Studio's buttons do."""

    def __init__(self, client: SyncLangGraphClient) -> None:
        self.client = client
        (assistant,) = client.assistants.search()
        self.assistant: str = assistant["assistant_id"]

    def thread(self) -> str:
        thread: str = self.client.threads.create()["thread_id"]
        return thread

    def run(self, thread: str, given: State | None, **more: Any) -> State:
        """The values at its end or interrupt; without input it goes on from where it stopped."""
        values = self.client.runs.wait(thread, self.assistant, input=given, **more)
        assert isinstance(values, dict)
        return values

    def state(self, thread: str) -> Any:
        return self.client.threads.get_state(thread)

    def edit(self, thread: str, values: State, node: str, checkpoint: Any = None) -> Any:
        """Writes the values as if the node had; with a checkpoint it forks there."""
        edited = self.client.threads.update_state(
            thread, values, as_node=node, checkpoint=checkpoint
        )
        return edited["checkpoint"]

    def before(self, thread: str, node: str) -> Any:
        """The first state of the thread's history in which this node is the next one."""
        history = self.client.threads.get_history(thread, limit=50)
        return [state for state in history if state["next"] == [node]][-1]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """`langgraph dev` on a data folder with two documents, away from the project's folder."""
    folder = tmp_path_factory.mktemp("studio")
    documents = folder / "documents"
    documents.mkdir()
    for part in (
        "graph",
        "langgraph.json",
    ):  # its paths and its own files go by the folder it is in
        (folder / part).symlink_to(ROOT / part)
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text)
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("CRAG_", "LANGSMITH_"))}
    environment = outside | {
        "CRAG_DATA_DIR": str(folder / "data"),
        "CRAG_RERANK__KEEP": str(KEEP),
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "1",
        "PYTHONPATH": str(ROOT),
    }
    ingest = [sys.executable, "-m", "crag", "ingest", str(documents), "--kb", "small"]
    subprocess.run(ingest, cwd=folder, env=environment, check=True, capture_output=True)
    port = free_port()
    dev = f"-m langgraph_cli dev --no-browser --no-reload --host 127.0.0.1 --port {port}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, *dev.split()],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(server, url, folder / "log")
        with get_sync_client(url=url) as client:
            yield Studio(client)
        printed = (folder / "log").read_text()
        assert "Blocking" not in printed
        assert "fell back" not in printed
    finally:
        server.terminate()
        try:
            server.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def wait_until_ready(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        assert server.poll() is None, f"it ended before it was ready: {log.read_text()}"
        assert time.monotonic() < deadline, f"it did not get ready: {log.read_text()}"
        try:
            if httpx.get(f"{url}/ok").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)


def nodes(state: State) -> list[str]:
    return [entry["node"] for entry in state["trace"]]


def test_the_options_of_a_run_are_a_form_with_descriptions_and_bounds(studio: Studio) -> None:
    schemas: Any = studio.client.assistants.get_schemas(studio.assistant)
    form = schemas["context_schema"]["properties"]
    assert form.keys() == Context.model_fields.keys()
    assert all(option["description"] for option in form.values())
    assert (form["keep"]["minimum"], form["keep"]["maximum"]) == (1, 20)
    assert form["keep"]["default"] == KEEP
    assert form["fusion"]["enum"] == list(get_args(Fusion))
    assert form["cache"]["default"] is False
    assert {"question", "knowledge_base"} <= schemas["input_schema"]["properties"].keys()
    assert "evidence" in schemas["state_schema"]["properties"]


def test_the_graph_is_drawn_with_its_nodes(studio: Studio) -> None:
    drawn = studio.client.assistants.get_graph(studio.assistant)
    assert {*STRAIGHT, "rewrite_query", "web_search"} <= {node["id"] for node in drawn["nodes"]}


def test_a_run_goes_to_its_end(studio: Studio) -> None:
    state = studio.run(studio.thread(), QUESTION)
    assert state["outcome"] == "answered"
    assert "4500" in state["draft"][0]["text"]
    assert nodes(state) == STRAIGHT


def test_an_option_out_of_bounds_is_refused_by_its_name(studio: Studio) -> None:
    with pytest.raises(Exception, match="rewrites"):
        studio.run(studio.thread(), QUESTION, context={"rewrites": 99})


def test_another_question_on_a_thread_sees_nothing_of_the_one_before(studio: Studio) -> None:
    thread = studio.thread()
    assert studio.run(thread, QUESTION)["outcome"] == "answered"
    state = studio.run(thread, NOWHERE, context={"rewrites": 1})
    assert (state["outcome"], state["reason"]) == ("refused", "out_of_scope")
    assert nodes(state)[0] == STRAIGHT[0]
    assert nodes(state).count(STRAIGHT[0]) == 1


def test_it_stops_before_grading_and_goes_on(studio: Studio) -> None:
    thread = studio.thread()
    studio.run(thread, QUESTION, interrupt_before=["grade_documents"])
    stopped = studio.state(thread)
    assert stopped["next"] == ["grade_documents"]
    assert {c["chunk"]["title"] for c in stopped["values"]["candidates"]} == {
        "VPN Access",
        "Parental Leave",
    }
    assert studio.run(thread, None)["outcome"] == "answered"
    steps = [state["next"] for state in studio.client.threads.get_history(thread, limit=50)]
    assert steps[0] == []
    assert [step for (step,) in reversed(steps[1:])] == ["__start__", *STRAIGHT]


def test_a_fork_with_edited_candidates_ends_otherwise(studio: Studio) -> None:
    thread = studio.thread()
    assert studio.run(thread, QUESTION)["outcome"] == "answered"
    graded = studio.before(thread, "grade_documents")
    others = [c for c in graded["values"]["candidates"] if c["chunk"]["title"] != "VPN Access"]
    fork = studio.edit(thread, {"candidates": others}, "rerank", graded["checkpoint"])
    state = studio.run(thread, None, checkpoint=fork, context={"rewrites": 0})
    assert state["outcome"] == "refused"
    assert len(state["graded"]) == len(others) > 0
    again = studio.run(thread, None, checkpoint=graded["checkpoint"])
    assert again["outcome"] == "answered"


def test_edited_evidence_decides_the_route_and_is_what_is_cited(studio: Studio) -> None:
    thread = studio.thread()
    studio.run(thread, QUESTION, interrupt_before=["generate"])
    found = studio.state(thread)["values"]["evidence"]
    (evidence,) = [e for e in found if e["candidate"]["chunk"]["title"] == "VPN Access"]
    studio.edit(thread, {"evidence": []}, "grade_documents")
    assert studio.state(thread)["next"] == ["rewrite_query"]
    studio.edit(thread, {"evidence": [evidence]}, "grade_documents")
    assert studio.state(thread)["next"] == ["generate"]
    (sentence, *_) = studio.run(thread, None)["draft"]
    (citation,) = sentence["citations"]
    assert citation["chunk_id"] == evidence["candidate"]["chunk"]["chunk_id"]
