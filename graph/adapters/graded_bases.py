"""Looks for an answer in the other knowledge bases of a scope, with the grader of the run."""

from collections.abc import Sequence
from typing import Protocol

from ingest.filters import Filters
from ingest.ports import KnowledgeBase
from ingest.scope import Scope
from nodes.plan_queries import derived_filters
from nodes.ports import Grader, Retriever

MOST_BASES = 5
"""Other bases that are searched for one refusal: each takes the time of a search."""
HITS = 10
GRADED = 3


class Bases(Protocol):
    """ingest.live.LiveBases is the one implementation."""

    async def bases(self, scope: Scope) -> list[KnowledgeBase]: ...


class GradedBases:
    def __init__(self, index: Retriever, bases: Bases, grader: Grader) -> None:
        self._index = index
        self._bases = bases
        self._grader = grader

    async def holding(self, scope: Scope, question: str, *, besides: Sequence[str]) -> list[str]:
        others = [b.name for b in await self._bases.bases(scope) if b.name not in besides]
        return [name for name in others[:MOST_BASES] if await self._holds(scope, name, question)]

    async def _holds(self, scope: Scope, name: str, question: str) -> bool:
        filters = derived_filters(question, Filters())
        found = await self._index.search(
            scope, name, question, [question], limit=HITS, filters=filters
        )
        graded = await self._grader.grade(
            question, found[:GRADED], among=found, upper=None, lower=None
        )
        return any(grade is not None and grade.verdict == "correct" for grade in graded.grades)
