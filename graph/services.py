"""The ports that a graph is built with."""

from dataclasses import dataclass
from typing import Protocol

from nodes.ports import (
    Generator,
    Grader,
    GroundingChecker,
    QueryWriter,
    Reranker,
    Retriever,
    SourceTexts,
    WebSearch,
)


class SearchableIndex(Retriever, SourceTexts, Protocol):
    """Finds passages and reads the texts that citations point into."""


@dataclass(frozen=True)
class Services:
    index: SearchableIndex
    reranker: Reranker
    grader: Grader
    web: WebSearch
    generator: Generator
    checker: GroundingChecker
    writer: QueryWriter | None = None
