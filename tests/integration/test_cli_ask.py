"""`crag ask` and `crag search` through a server: output, exit codes, the trace."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import crag
from tests.api_clients import served, settings_on
from tests.api_fakes import FakeService

SERVICE = FakeService()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("ask")
    with served(settings_on(folder), SERVICE):
        yield folder / "crag"


@pytest.fixture(autouse=True)
def data_dir(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(folder))


def test_prints_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert crag.run(["ask", "why?", "--kb", "handbook"]) == 0
    assert capsys.readouterr().out == "Yes. [1]\n"


@pytest.mark.parametrize("command", ["ask", "search"])
def test_without_a_server_it_says_what_takes_its_time(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "own"))
    monkeypatch.setattr("graph.compose.open_graph", FakeService())
    crag.run([command, "why?", "--kb", "handbook"])
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"opening the data folder {tmp_path / 'own'}"
    assert (said[1:2] == ["loading the models"]) is (command == "ask")


def test_json_is_the_answer_object_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert crag.run(["ask", "why?", "--kb", "handbook", "--json", "--trace"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["outcome"] == "answered"
    assert "plan_queries" in captured.err


def test_the_trace_comes_before_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    crag.run(["ask", "why?", "--kb", "handbook", "--trace"])
    printed = capsys.readouterr().out
    assert printed.index("plan_queries") < printed.index("query: q") < printed.index("Yes. [1]")


def test_a_refusal_exits_0_or_4_where_an_answer_is_required(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert crag.run(["ask", "refuse", "--kb", "handbook"]) == 0
    assert "Refused: no_evidence" in capsys.readouterr().out
    assert crag.run(["ask", "refuse", "--kb", "handbook", "--require-answer"]) == 4
    assert crag.run(["ask", "why?", "--kb", "handbook", "--require-answer"]) == 0


def test_hands_over_thread_and_options() -> None:
    arguments = ["--thread", "t-1", "--option", "rewrites=1", "--option", "fusion=rrf"]
    crag.run(["ask", "why?", "--kb", "handbook", *arguments])
    asked = SERVICE.runner.asked[-1]
    assert (asked.thread_id, asked.options) == ("t-1", {"rewrites": 1, "fusion": "rrf"})


def test_a_control_character_becomes_a_space(capsys: pytest.CaptureFixture[str]) -> None:
    assert crag.run(["ask", "refuse\x1b[31m\x07 this", "--kb", "handbook"]) == 0
    assert SERVICE.runner.asked[-1].question == "refuse [31m  this"
    assert "query: refuse [31m  this" in capsys.readouterr().out
    assert crag.run(["ask", "\x1b\x07", "--kb", "handbook"]) == 2
    assert crag.run(["search", "\x1b\x07", "--kb", "handbook"]) == 2


def test_errors_of_the_server_are_errors_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert crag.run(["ask", "q", "--kb", "nope"]) == 1
    assert crag.run(["search", "q", "--kb", "nope"]) == 1
    assert crag.run(["ask", "q", "--kb", "handbook", "--option", "rewrites=9"]) == 2
    assert crag.run(["ask", "crash", "--kb", "handbook"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 4


def test_search_prints_passages_with_scores(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# Leave\n\nTen days.\n")
    crag.run(["ingest", str(tmp_path / "a.md"), "--kb", "searched"])
    capsys.readouterr()
    assert crag.run(["search", "ten days", "--kb", "searched", "--limit", "1"]) == 0
    printed = capsys.readouterr().out
    assert "1  Leave  a.md" in printed
    assert "dense" in printed
    assert "bm25" in printed
