"""The corpus commands through a running server; ingest.local has the same ones."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from ingest.errors import NotFound
from ingest.loaders import MAX_BYTES, MEDIA_TYPES
from ingest.pipeline import FileResult, IngestReport, OnResult, files_below
from ingest.remote import Client

BASES = "/v1/knowledge-bases"


def ingest_through(
    client: Client,
    path: Path,
    knowledge_base: str,
    delete_missing: bool,
    acl: list[str] | None,
    on_result: OnResult,
) -> tuple[IngestReport, bool]:
    """As ingest.local.ingest_here: the report, and whether the base was created."""
    address = f"{BASES}/{quote(knowledge_base, safe='')}/documents"
    files = files_below(path)
    created = _create_missing(client, knowledge_base)
    results: list[FileResult] = []

    def told(result: FileResult) -> None:
        results.append(result)
        on_result(result, len(files))

    for source, file in files:
        told(_refused_here(source, file) or _upload(client, address, source, file, acl))
    if delete_missing and path.is_dir():
        for document in _missing(client, address, {result.source for result in results}):
            try:
                client.json("DELETE", f"{address}/{document['document_id']}")
            except NotFound:
                continue
            told(FileResult(document["source"], "deleted", document["document_id"]))
    return IngestReport(sorted(results, key=lambda result: result.source)), created


def _create_missing(client: Client, knowledge_base: str) -> bool:
    if any(base["name"] == knowledge_base for base in bases_through(client)):
        return False
    create_through(client, knowledge_base, "", False, None, [])
    return True


def bases_through(client: Client) -> list[dict[str, Any]]:
    bases: list[dict[str, Any]] = client.json("GET", BASES)["knowledge_bases"]
    return bases


def create_through(
    client: Client,
    name: str,
    description: str,
    web: bool,
    acl: list[str] | None,
    examples: list[str],
) -> dict[str, Any]:
    body = {"name": name, "description": description, "web": web, "acl": acl or ["*"]}
    base: dict[str, Any] = client.json("POST", BASES, body | {"examples": examples})
    return base


def describe_through(
    client: Client, name: str, description: str, examples: list[str]
) -> dict[str, Any]:
    body = {"description": description, "examples": examples}
    address = f"{BASES}/{quote(name, safe='')}/description"
    base: dict[str, Any] = client.json("PUT", address, body)
    return base


def delete_through(client: Client, name: str) -> None:
    client.json("DELETE", f"{BASES}/{quote(name, safe='')}")


def _refused_here(source: str, file: Path) -> FileResult | None:
    """What a loader would refuse by name or size is not worth sending."""
    if file.suffix.lower() not in MEDIA_TYPES or file.stat().st_size <= MAX_BYTES:
        return None
    error = f"It is larger than {MAX_BYTES // 1024**2} MB."
    return FileResult(source, "failed", code="too_large", error=error)


def _upload(
    client: Client, address: str, source: str, file: Path, acl: list[str] | None
) -> FileResult:
    try:
        content = file.read_bytes() if file.suffix.lower() in MEDIA_TYPES else b""
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        return FileResult(source, "failed", code="unreadable", error=reason)
    report = client.json("POST", address, content=content, name=source, acl=acl or [])
    return FileResult(**report["files"][0])


def _missing(client: Client, address: str, present: set[str]) -> list[dict[str, Any]]:
    documents = client.json("GET", address)["documents"]
    return [document for document in documents if document["source"] not in present]
