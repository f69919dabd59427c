"""How far an ingestion is: a line now and then, a bar on a terminal, and what went wrong."""

import time

import pytest

from ingest import progress
from ingest.pipeline import FileResult
from ingest.progress import shown_progress

RESULTS = [
    FileResult("a.md", "added", "a", chunks=3),
    FileResult("b.md", "unchanged", "b", chunks=5),
    FileResult("c.md", "failed", error="It is empty."),
    FileResult("old.md", "deleted", "old", chunks=7),
]


def test_a_line_every_few_seconds_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.02)
    said = ""
    with shown_progress(4) as on_result:
        deadline = time.monotonic() + 5
        while "no file is done yet" not in said and time.monotonic() < deadline:
            said += capsys.readouterr().err
        for result in RESULTS:
            on_result(result, 4)
        while "3 of 4 files" not in said and time.monotonic() < deadline:
            said += capsys.readouterr().err
    assert "no file is done yet, 0 s; without a server the models load first" in said
    assert "3 of 4 files, 3 passages written, " in said
    assert "failed: c.md: It is empty." in said
    time.sleep(0.05)
    assert capsys.readouterr().out == ""


def test_nothing_but_what_went_wrong_where_it_is_quick(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with shown_progress(3) as on_result:
        for result in RESULTS[:3]:
            on_result(result, 3)
    assert capsys.readouterr().err == "failed: c.md: It is empty.\n"


def test_the_lines_end_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 60.0)
    began = time.monotonic()
    with pytest.raises(ValueError, match="broke"), shown_progress(1):
        raise ValueError("broke")
    assert time.monotonic() - began < 30
