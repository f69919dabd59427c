"""The program itself: quick to start, one line for an expected error, fixed exit codes."""

import os
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest

import crag
from graph.asking import checked
from ingest.data_folder import DataFolder
from ingest.errors import (
    ConfigurationError,
    DataFolderHeld,
    DependencyError,
    EmbedderMismatch,
    InvalidRequest,
    ServiceError,
    UnknownKnowledgeBase,
)
from ingest.remote import _say_ignored, here_or_through

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("torch", "sentence_transformers", "langgraph", "fastapi", "numpy", "httpx")


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))
    return tmp_path / "crag"


def imported_by(*arguments: str) -> set[str]:
    """The heavy packages that a command imports, in a process of its own."""
    code = (
        "import sys, crag; crag.run(sys.argv[1:]); "
        f"print('imported:', *[m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("command", [[], ["ingest"], ["ask"], ["serve"], ["kb", "create"]])
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    assert imported_by(*command, "--help") == set()


def test_ingest_imports_no_model_for_nothing_new(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    imported = imported_by("ingest", str(tmp_path / "empty"), "--kb", "handbook")
    assert imported.isdisjoint({"torch", "sentence_transformers", "langgraph", "fastapi"})


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigurationError("x"), 2),
        (EmbedderMismatch("x"), 2),
        (InvalidRequest("x"), 2),
        (DataFolderHeld("x"), 5),
        (UnknownKnowledgeBase("x"), 1),
        (DependencyError("x"), 1),
        (ServiceError("several\n  lines"), 1),
    ],
)
def test_an_expected_error_is_one_line_and_its_code(
    error: ServiceError,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(settings: object) -> None:
        raise error

    monkeypatch.setattr("ingest.local.bases_here", fail)
    assert crag.run(["kb", "list"]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"crag: {' '.join(str(error).split())}\n"


def test_an_interrupt_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ingest.local.bases_here", interrupt)
    assert crag.run(["kb", "list"]) == 130


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["ask"], ["ask", "q"], ["kb"], ["search", "q", "--kb", "k", "--limit", "0"]],
)
def test_wrong_usage_exits_2(arguments: list[str]) -> None:
    assert crag.run(arguments) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", " ", "--kb", "handbook"],
        ["ask", "\x1b\x00", "--kb", "handbook"],
        ["ask", "x" * 4001, "--kb", "handbook"],
        ["ask", "q\udcff", "--kb", "handbook"],
        ["ask", "q", "--kb", "handbook", "--thread", "../x"],
        ["ask", "q", "--kb", "handbook", "--option", "rewrites"],
        ["search", "", "--kb", "handbook"],
        ["ingest", "/no/such/path", "--kb", "handbook"],
        ["kb", "create", "Not Good"],
        ["serve", "--host", "0.0.0.0"],
    ],
)
def test_a_bad_value_exits_2(arguments: list[str]) -> None:
    assert crag.run(arguments) == 2


def test_a_question_is_checked_as_it_can_be_printed() -> None:
    assert checked("How\x1b[31m long?", None) == "How [31m long?"
    with pytest.raises(InvalidRequest, match="not blank"):
        checked("\x1b\x00", None)


def test_settings_that_a_server_ignores_are_named_in_whatever_case(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("crag_rerank__keep", "3")
    monkeypatch.setenv("crag_port", "1")
    _say_ignored()
    assert capsys.readouterr().err.endswith("ignored: crag_rerank__keep\n")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("CRAG_BUDGET__REWRITE", "CRAG_BUDGET__REWRITES"), ("CRAG_API__KEY", "CRAG_API__KEYS")],
)
@pytest.mark.parametrize(
    "arguments",
    [
        ["kb", "list"],
        ["doctor"],
        ["serve"],
        ["ask", "q", "--kb", "k"],
        ["search", "q", "--kb", "k"],
        ["ingest", ".", "--kb", "k"],
    ],
)
def test_an_unknown_setting_stops_every_command(
    arguments: list[str],
    name: str,
    nearest: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(name, "x")
    assert crag.run(arguments) == 2
    assert capsys.readouterr().err == f"crag: unknown setting {name}; did you mean {nearest}?\n"


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_data_folder_is_refused(
    empty: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", empty)
    assert crag.run(["kb", "list"]) == 2
    assert "CRAG_DATA_DIR: value error, must name a folder" in capsys.readouterr().err


def test_a_held_folder_exits_5_and_says_who_holds_it(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ingest.remote.ANNOUNCED_WITHIN_S", 0)
    folder = DataFolder(data_dir)
    try:
        assert crag.run(["kb", "list"]) == 5
        assert crag.run(["ask", "q", "--kb", "k"]) == 5
    finally:
        folder.close()
    error = capsys.readouterr().err
    assert f"process {os.getpid()}" in error
    assert "stop it or set another CRAG_DATA_DIR" in error


def test_a_lock_file_left_by_a_crash_holds_nothing(data_dir: Path) -> None:
    DataFolder(data_dir).close()
    (data_dir / "lock").write_text('{"pid": 1, "url": "http://127.0.0.1:9", "token": "t"}')
    assert crag.run(["kb", "list"]) == 0


def test_goes_through_a_server_that_took_the_folder_meanwhile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = iter([None, closing(StringIO())])
    monkeypatch.setattr("ingest.remote.server_for", lambda data_dir: next(answers))

    def here() -> str:
        raise DataFolderHeld("x")

    assert here_or_through(tmp_path, here, lambda server: "through") == "through"
