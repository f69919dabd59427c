"""The ports that a graph is built with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from nodes.ports import (
    AnswerCache,
    Confidence,
    Documents,
    Generator,
    Grader,
    GroundingChecker,
    KnownVersion,
    NamedBases,
    OtherBases,
    QueryWriter,
    Reranker,
    Retriever,
    Router,
    SourceTexts,
    WebSearch,
)
from nodes.scope_of_base import NEVER


class SearchableIndex(Retriever, SourceTexts, KnownVersion, Protocol):
    """Finds passages, reads the texts that citations point into, and names its state."""


@runtime_checkable
class Loading(Protocol):
    """An adapter with weights of its own: read once at start, let go of at the end."""

    async def load(self) -> None:
        """Raises ConfigurationError for weights that cannot be used."""

    def close(self) -> None: ...


class Connection(Protocol):
    async def close(self) -> None: ...


@dataclass(frozen=True)
class Services:
    index: SearchableIndex
    reranker: Reranker
    grader: Grader
    web: WebSearch
    generator: Generator
    checker: GroundingChecker
    writer: QueryWriter | None = None
    by_chat: Mapping[str, Reranker] | None = None
    """Rerankers of a chat model, by the name of the option."""
    confidence: Confidence | None = None
    others: OtherBases | None = None
    documents: Documents | None = None
    bases: NamedBases | None = None
    router: Router | None = None
    in_scope: float = NEVER
    cache: AnswerCache | None = None
    connections: tuple[Connection, ...] = ()
    """What the ports hold open, to be closed with the service."""

    async def close(self) -> None:
        for connection in self.connections:
            await connection.close()
