"""Knowledge bases: the sets of documents that questions are asked of."""

from fastapi import APIRouter
from pydantic import BaseModel

from api.dependencies import Administers, Reads, ServiceOf
from api.problems import problems
from api.schemas import AccessBody, DescriptionBody, NewKnowledgeBase
from ingest.inventory import BaseSummary, inventory, summary_of

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge bases"])


class KnowledgeBaseList(BaseModel):
    knowledge_bases: list[BaseSummary]


@router.get("", summary="List knowledge bases", responses=problems())
async def list_knowledge_bases(scope: Reads, service: ServiceOf) -> KnowledgeBaseList:
    """With the number of documents and passages, and the version of the index."""
    return KnowledgeBaseList(knowledge_bases=await inventory(service.corpus, scope))


@router.post("", status_code=201, summary="Create a knowledge base", responses=problems())
async def create_knowledge_base(
    body: NewKnowledgeBase, scope: Administers, service: ServiceOf
) -> BaseSummary:
    """An empty base. A name that exists is `invalid_request`."""
    base = await service.corpus.writer.create_knowledge_base(
        scope, body.name, body.description, web=body.web, acl=body.acl, examples=body.examples
    )
    return await summary_of(service.corpus, scope, base)


@router.put(
    "/{knowledge_base}/description",
    summary="Say what a knowledge base holds",
    responses=problems(404),
)
async def describe_knowledge_base(
    knowledge_base: str, body: DescriptionBody, scope: Administers, service: ServiceOf
) -> BaseSummary:
    """In place of what was said; `auto` routes questions by it."""
    base = await service.corpus.writer.describe(
        scope, knowledge_base, body.description, body.examples
    )
    return await summary_of(service.corpus, scope, base)


@router.put(
    "/{knowledge_base}/acl",
    status_code=204,
    summary="Say who may read a knowledge base",
    responses=problems(),
)
async def set_base_access(
    knowledge_base: str, body: AccessBody, scope: Administers, service: ServiceOf
) -> None:
    """From now on it is not there for anybody else, whatever its documents say."""
    await service.corpus.writer.set_base_acl(scope, knowledge_base, body.acl)


@router.delete(
    "/{knowledge_base}",
    status_code=204,
    summary="Delete a knowledge base",
    responses=problems(),
)
async def delete_knowledge_base(
    knowledge_base: str, scope: Administers, service: ServiceOf
) -> None:
    """It stops answering at once, with all its documents."""
    await service.corpus.writer.delete_knowledge_base(scope, knowledge_base)
