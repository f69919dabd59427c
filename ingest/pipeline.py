"""From a folder to a knowledge base: reads, compares, embeds what changed, reports each file."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ingest.acl import check_declared
from ingest.documents import document_id
from ingest.errors import InvalidRequest, LoadError
from ingest.index import Index
from ingest.loaders import load_bytes
from ingest.ports import DocumentRecord
from ingest.preparing import HIDDEN, Prepared
from ingest.scope import Scope
from ingest.writer import Writer

FileState = Literal["added", "updated", "unchanged", "failed", "deleted"]

GROUP_CHUNKS = 256
"""Chunks embedded in one call: the encoder sorts by length over the list it is given. Reading the
next files meanwhile took more from the encoder than it gave, on two cores."""


@dataclass(frozen=True)
class FileResult:
    """What became of one file. `error` is one line; `code` one of LoadError's. Hidden
    characters were taken out."""

    source: str
    state: FileState
    document_id: str | None = None
    chunks: int = 0
    duplicate_of: str | None = None
    hidden_characters: int = 0
    code: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class IngestReport:
    files: list[FileResult] = field(default_factory=list)

    def count(self, state: FileState) -> int:
        return sum(result.state == state for result in self.files)

    @property
    def exit_code(self) -> int:
        """0 all, 3 some files failed, 1 none could be read."""
        failed = self.count("failed")
        if not failed:
            return 0
        read = self.count("added") + self.count("updated") + self.count("unchanged")
        return 3 if read else 1


OnResult = Callable[[FileResult, int], None]
"""Told each result and the number of files in all, as work goes on."""


async def ingest(
    path: Path,
    *,
    scope: Scope,
    knowledge_base: str,
    index: Index,
    writer: Writer,
    delete_missing: bool = False,
    acl: list[str] | None = None,
    on_result: OnResult = lambda result, total: None,
) -> IngestReport:
    """Brings the base in line with a file or folder; an unchanged file costs no embedding.

    With an `acl` all of them get it, also the unchanged; without, each keeps its own.
    Where the store lost passages, every file is embedded again. Raises InvalidRequest where there
    is nothing at `path`. A file that cannot be read is a
    result, and what the base knew of it before goes on answering.
    """
    sources = await asyncio.to_thread(files_below, path)
    total = len(sources)
    known = {d.source: d for d in await index.documents(scope, knowledge_base)}
    complete = await writer.is_complete(scope, knowledge_base, known.values())
    results: list[FileResult] = []

    def told(result: FileResult) -> None:
        results.append(result)
        on_result(result, total)

    group: list[Prepared] = []
    for source, file in sources:
        before = known.get(source) if complete else None
        outcome = await _read(source, file, before, scope, knowledge_base, writer, acl)
        if isinstance(outcome, FileResult):
            told(outcome)
            continue
        group.append(outcome)
        if sum(len(prepared.chunks) for prepared in group) >= GROUP_CHUNKS:
            await _write(group, known, scope, knowledge_base, writer, told)
            group = []
    await _write(group, known, scope, knowledge_base, writer, told)
    if delete_missing and await asyncio.to_thread(path.is_dir):
        for gone in known.keys() - {source for source, _ in sources}:
            await writer.delete_document(scope, knowledge_base, known[gone].document_id)
            told(FileResult(gone, "deleted", known[gone].document_id))
    if any(result.state in ("added", "updated") for result in results):
        await writer.optimize()
    return IngestReport(sorted(results, key=lambda result: result.source))


async def ingest_upload(
    source: str,
    content: bytes,
    *,
    scope: Scope,
    knowledge_base: str,
    index: Index,
    writer: Writer,
    acl: list[str] | None = None,
) -> FileResult:
    """One uploaded document, under the name `source`. A bad one is a `failed` result."""
    document = document_id(scope.tenant, knowledge_base, source)
    live = {d.document_id: d for d in await index.documents(scope, knowledge_base)}
    known = live.get(document)
    outcome = await _prepare(source, content, known, scope, knowledge_base, writer, acl)
    if isinstance(outcome, FileResult):
        return outcome
    results: list[FileResult] = []
    before = {source: known} if known else {}
    await _write([outcome], before, scope, knowledge_base, writer, results.append)
    return results[0]


async def _read(
    source: str,
    file: Path,
    known: DocumentRecord | None,
    scope: Scope,
    base: str,
    writer: Writer,
    acl: list[str] | None,
) -> Prepared | FileResult:
    printable = source.encode("utf-8", "replace").decode()
    if printable != source:
        reason = "the file name is not valid UTF-8"
        return FileResult(printable, "failed", code="unreadable", error=reason)
    try:
        content = await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        return FileResult(source, "failed", code="unreadable", error=reason)
    return await _prepare(source, content, known, scope, base, writer, acl)


async def _prepare(
    source: str,
    content: bytes,
    known: DocumentRecord | None,
    scope: Scope,
    base: str,
    writer: Writer,
    acl: list[str] | None,
) -> Prepared | FileResult:
    if known is not None and known.revision == writer.revision(content):
        if acl is None or acl == known.acl:
            return _result(known, "unchanged")
        await writer.set_acl(scope, base, known.document_id, acl)
        return _result(known, "updated")
    try:
        loaded = await asyncio.to_thread(load_bytes, source, content)
        check_declared(loaded.metadata)
    except LoadError as error:
        return FileResult(source, "failed", code=error.code, error=error.message)
    return await writer.prepare(scope, base, source, content, loaded, acl)


async def _write(
    group: list[Prepared],
    known: dict[str, DocumentRecord],
    scope: Scope,
    base: str,
    writer: Writer,
    told: Callable[[FileResult], None],
) -> None:
    if group:
        for record in await writer.write(scope, base, group):
            told(_result(record, "updated" if record.source in known else "added"))


def _result(record: DocumentRecord, state: FileState) -> FileResult:
    hidden = int(record.metadata.get(HIDDEN, "0"))
    return FileResult(
        record.source, state, record.document_id, record.chunks, record.duplicate_of, hidden
    )


def files_below(path: Path) -> list[tuple[str, Path]]:
    """(name, file) of every file below a folder, sorted; or the one file. Without hidden ones, and
    without links that lead out of the folder.

    Raises InvalidRequest where there is nothing.
    """
    if path.is_file():
        return [(path.name, path)]
    if not path.is_dir():
        raise InvalidRequest(f"there is no file or folder {path}")
    root = path.resolve()
    found = [(file.relative_to(path), file) for file in sorted(path.rglob("*"))]
    return [
        (relative.as_posix(), file)
        for relative, file in found
        if file.is_file()
        and not any(part.startswith(".") for part in relative.parts)
        and file.resolve().is_relative_to(root)
    ]
