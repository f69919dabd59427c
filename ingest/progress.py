"""What ingestion shows on standard error: how far it is, and a line for what went wrong."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ingest.loaders.normalise import printable
from ingest.pipeline import FileResult, FileState, IngestReport, OnResult
from ingest.terminal import counted, say

STATES: tuple[FileState, ...] = ("added", "updated", "unchanged", "deleted", "failed")


Shown = tuple[Callable[[str], None], Callable[[], None]]
"""What shows a line, and what is called when it went on."""

EVERY_S = 5.0
"""Seconds between two lines where there is no terminal, and so no bar."""


@dataclass
class Progress:
    """How far it is. A deleted document is no file of the folder."""

    files: int
    done: int = 0
    passages: int = 0
    began: float = field(default_factory=time.monotonic)

    def count(self, result: FileResult) -> None:
        if result.state != "deleted":
            self.done += 1
        if result.state in ("added", "updated"):
            self.passages += result.chunks

    def line(self) -> str:
        seconds = time.monotonic() - self.began
        if not self.done:
            return f"no file is done yet, {seconds:.0f} s; without a server the models load first"
        done = f"{self.done} of {counted(self.files, 'file')}"
        return f"{done}, {counted(self.passages, 'passage')} written, {seconds:.0f} s"


@contextmanager
def shown_progress(files: int) -> Iterator[OnResult]:
    """Takes each result as it comes. A failed file and an alias get a line; how far it is shows a
    bar on a terminal, and elsewhere a line every few seconds."""
    names: dict[str, str] = {}
    progress = Progress(files)
    showing = _bar(progress) if sys.stderr.isatty() else _lines(progress)
    with showing as (show, moved):

        def on_result(result: FileResult, total: int) -> None:
            progress.count(result)
            moved()
            if line := line_of(result, names):
                show(line)

        yield on_result


@contextmanager
def _lines(progress: Progress) -> Iterator[Shown]:
    over = threading.Event()

    def tell() -> None:
        while not over.wait(EVERY_S):
            _print(progress.line())

    telling = threading.Thread(target=tell, name="progress")
    telling.start()
    try:
        yield _print, lambda: None
    finally:
        over.set()
        telling.join()


@contextmanager
def _bar(progress: Progress) -> Iterator[Shown]:
    from rich import progress as parts
    from rich.console import Console

    columns = (
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TextColumn("files, {task.fields[passages]}"),
        parts.TimeElapsedColumn(),
    )
    with parts.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("ingesting", total=progress.files, passages="0 passages")

        def show(line: str) -> None:
            bar.console.print(printable(line), markup=False, highlight=False, soft_wrap=True)

        def moved() -> None:
            passages = counted(progress.passages, "passage")
            bar.update(task, completed=progress.done, passages=passages)

        yield show, moved


def line_of(result: FileResult, names: dict[str, str]) -> str:
    """What is worth saying of one file; empty for the usual. `names` learns its document id."""
    if result.document_id:
        names[result.document_id] = result.source
    if result.state == "failed":
        return f"failed: {result.source}: {result.error}"
    if result.state == "deleted":
        return f"deleted: {result.source}"
    hidden = result.hidden_characters
    if hidden and result.state != "unchanged":
        return f"{result.state}: {result.source}: hidden characters removed: {hidden}"
    if result.duplicate_of and result.state != "unchanged":
        original = names.get(result.duplicate_of, result.duplicate_of)
        return f"{result.state}: {result.source} is a duplicate of {original}"
    return ""


def summary_line(report: IngestReport, knowledge_base: str, seconds: float) -> str:
    counts = ", ".join(f"{report.count(state)} {state}" for state in STATES if report.count(state))
    chunks = sum(r.chunks for r in report.files if r.state in ("added", "updated"))
    wrote = f", {counted(chunks, 'passage')} written" if chunks else ""
    return f"{knowledge_base}: {counts or 'no files'}{wrote} in {seconds:.1f} s"


def _print(line: str) -> None:
    say(line, sys.stderr)
