"""Documents of a knowledge base."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from api.audit import note
from api.dependencies import Ingests, Reads, ServiceOf, within_upload
from api.problems import problems
from api.schemas import AccessBody
from api.uploads import BODY, uploaded
from ingest.acl import parse_acl
from ingest.pipeline import FileResult, ingest_upload
from ingest.ports import DocumentRecord

router = APIRouter(prefix="/knowledge-bases/{knowledge_base}/documents", tags=["documents"])


class UploadReport(BaseModel):
    """What became of each file. One that could not be read is `failed` and says why."""

    files: list[FileResult]


class DocumentList(BaseModel):
    documents: list[DocumentRecord]


class Document(BaseModel):
    document: DocumentRecord
    text_length: int = Field(description="Unicode code points of the stored text.")


@router.post(
    "",
    summary="Upload documents",
    openapi_extra=BODY,
    responses=problems(),
    dependencies=[Depends(within_upload)],
)
async def upload_documents(
    knowledge_base: str,
    request: Request,
    scope: Ingests,
    service: ServiceOf,
    name: Annotated[str | None, Query(description="The file's name, for a raw body.")] = None,
    acl: Annotated[list[str], Query(description="Who may read: *, user:NAME, group:NAME.")] = [],  # noqa: B006 - FastAPI copies it
) -> UploadReport:
    """Adds or replaces documents by name; the same content again is `unchanged`.

    Without `acl` a document keeps the one it has, and a new one is for everyone of the tenant; what
    it says of itself can only narrow that. A document with the bytes of another
    one is kept as an alias and says `duplicate_of`.
    """
    corpus = service.corpus
    given = parse_acl(acl) if acl else None
    await corpus.index.documents(scope, knowledge_base)
    results = [
        await ingest_upload(
            source,
            content,
            scope=scope,
            knowledge_base=knowledge_base,
            index=corpus.index,
            writer=corpus.writer,
            acl=given,
        )
        async for source, content in uploaded(request, name)
    ]
    states = Counter(result.state for result in results)
    note(
        request,
        target=" ".join(filter(None, (result.document_id for result in results))),
        outcome=", ".join(f"{number} {state}" for state, number in states.items()),
    )
    if any(result.state in ("added", "updated") for result in results):
        request.app.state.lifetime.uploaded()
    return UploadReport(files=results)


@router.get("", summary="List documents", responses=problems())
async def list_documents(knowledge_base: str, scope: Reads, service: ServiceOf) -> DocumentList:
    """Live documents by source."""
    return DocumentList(documents=await service.corpus.index.documents(scope, knowledge_base))


@router.get("/{document_id}", summary="Read a document's record", responses=problems())
async def read_document(
    knowledge_base: str, document_id: str, scope: Reads, service: ServiceOf
) -> Document:
    """The record and the length of the text that citations point into."""
    index = service.corpus.index
    record = await index.document(scope, knowledge_base, document_id)
    text = await index.text(scope, knowledge_base, document_id, record.revision)
    return Document(document=record, text_length=len(text or ""))


@router.put(
    "/{document_id}/acl",
    status_code=204,
    summary="Say who may read a document",
    responses=problems(),
)
async def set_document_access(
    knowledge_base: str, document_id: str, body: AccessBody, scope: Ingests, service: ServiceOf
) -> None:
    """At once, in searches, citations and caches."""
    await service.corpus.writer.set_acl(scope, knowledge_base, document_id, body.acl)


@router.delete("/{document_id}", status_code=204, summary="Delete a document", responses=problems())
async def delete_document(
    knowledge_base: str, document_id: str, scope: Ingests, service: ServiceOf
) -> None:
    """It stops answering at once."""
    await service.corpus.writer.delete_document(scope, knowledge_base, document_id)
