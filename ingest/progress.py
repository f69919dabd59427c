"""What ingestion shows on standard error: a bar on a terminal, a line for what went wrong."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ingest.loaders.normalise import printable
from ingest.pipeline import FileResult, FileState, IngestReport, OnResult
from ingest.terminal import counted, say

if TYPE_CHECKING:
    from rich.progress import Progress

STATES: tuple[FileState, ...] = ("added", "updated", "unchanged", "deleted", "failed")


@contextmanager
def shown_progress() -> Iterator[OnResult]:
    """Takes each result as it comes. A failed file and an alias get a line, the others a tick."""
    names: dict[str, str] = {}
    if not sys.stderr.isatty():
        yield lambda result, total: _print(line_of(result, names))
        return
    with _bar() as bar:
        task = bar.add_task("ingesting", total=None)

        def show(result: FileResult, total: int) -> None:
            bar.update(task, total=total, advance=result.state != "deleted")
            line = line_of(result, names)
            if line:
                bar.console.print(printable(line), markup=False, highlight=False, soft_wrap=True)

        yield show


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
    if line:
        say(line, sys.stderr)


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
