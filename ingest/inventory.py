"""What there is: each knowledge base with its counts."""

from collections import Counter
from dataclasses import dataclass

from ingest.compose import Corpus
from ingest.ports import KnowledgeBase
from ingest.scope import Scope


@dataclass(frozen=True)
class BaseSummary:
    """A knowledge base; `version` names what it would answer from. Counts are of what the scope
    sees, and only a manager is told who else may read it; `languages` counts documents whose
    language is declared or could be told."""

    name: str
    description: str
    created_at: str
    web: bool
    documents: int
    chunks: int
    version: str
    acl: list[str] | None
    examples: list[str]
    languages: dict[str, int]


async def inventory(corpus: Corpus, scope: Scope) -> list[BaseSummary]:
    """Every base of the scope, by name."""
    return [await summary_of(corpus, scope, base) for base in await corpus.bases.bases(scope)]


async def summary_of(corpus: Corpus, scope: Scope, base: KnowledgeBase) -> BaseSummary:
    """Raises UnknownKnowledgeBase when it was deleted meanwhile."""
    documents = await corpus.index.documents(scope, base.name)
    return BaseSummary(
        name=base.name,
        description=base.description,
        created_at=base.created_at,
        web=base.web,
        documents=len(documents),
        chunks=sum(document.chunks for document in documents),
        version=await corpus.index.version(scope, base.name),
        acl=base.acl if scope.manages else None,
        examples=base.examples,
        languages=dict(
            Counter(filter(None, (d.metadata.get("language") for d in documents))).most_common()
        ),
    )
