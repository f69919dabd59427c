"""What a command shows: no byte that a terminal would obey, and JSON that reads back the same."""

import io
import json

import pytest

import crag
from graph.trace_view import trace_printer
from ingest.errors import ServiceError
from ingest.pipeline import FileResult
from ingest.progress import shown_progress
from ingest.terminal import say, say_json

EVIL = "a\x1b]0;owned\x07\x9b31m\x00b\u202ec"
OBEYED = set("\x00\x07\x1b\x9b\u202e")


def test_text_is_printed_without_what_a_terminal_obeys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say(EVIL)
    assert capsys.readouterr().out == "a ]0;owned  31m bc\n"


def test_json_is_escaped_and_reads_back_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"text": EVIL + "\x7f\x85\u2028\ud800\U000e0041 Größe 😀"}
    say_json(document)
    printed = capsys.readouterr().out
    assert not OBEYED & set(printed)
    assert "Größe 😀" in printed
    assert json.loads(printed) == document
    printed.encode()


def test_the_trace_is_printed_so() -> None:
    printed = io.StringIO()
    summary = {"sent": EVIL, "results": [{"title": EVIL, "url": EVIL}], "error": EVIL}
    entry = {"seq": 1, "node": "web_search", "ms": 1.0, "status": "error", "summary": summary}
    trace_printer(printed)(entry)
    assert "owned" in printed.getvalue()
    assert not OBEYED & set(printed.getvalue())


def test_the_names_of_files_are_printed_so(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress(1) as on_result:
        on_result(FileResult(EVIL, "failed", error="It is empty."), 1)
    printed = capsys.readouterr().err
    assert printed.startswith("failed: a ]0;owned")
    assert not OBEYED & set(printed)


def test_an_error_is_printed_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(settings: object) -> None:
        raise ServiceError(EVIL)

    monkeypatch.setattr("ingest.local.bases_here", fail)
    assert crag.run(["kb", "list"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("crag: a ]0;owned")
    assert not OBEYED & set(printed)
