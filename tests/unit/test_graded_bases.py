"""Which other knowledge bases seem to have an answer."""

from collections.abc import Sequence
from typing import Any

from graph.adapters.graded_bases import MOST_BASES, GradedBases
from ingest.documents import Candidate
from ingest.ports import KnowledgeBase
from ingest.scope import LOCAL, Scope
from tests.fakes import FakeGrader, a_candidate


class Bases:
    def __init__(self, *names: str) -> None:
        self.names = names
        self.scopes: list[Scope] = []

    async def bases(self, scope: Scope) -> list[KnowledgeBase]:
        self.scopes.append(scope)
        return [KnowledgeBase(name, "", "", "", "", web=False) for name in self.names]


class OnePassageEach:
    """A base's one passage is named like the base."""

    def __init__(self) -> None:
        self.searched: list[tuple[Scope, str]] = []

    async def search(
        self, scope: Scope, base: str, question: str, queries: Sequence[str], **more: Any
    ) -> list[Candidate]:
        self.searched.append((scope, base))
        return [a_candidate(base)]


async def test_names_those_with_a_correct_passage_in_the_scope_of_the_run() -> None:
    index, bases = OnePassageEach(), Bases("kb", "travel", "legal")
    grader = FakeGrader({"kb": "correct", "travel": "correct", "legal": "ambiguous"})
    scope = Scope("acme", ["anna"])
    found = await GradedBases(index, bases, grader).holding(scope, "How much?", besides=["kb"])
    assert found == ["travel"]
    assert index.searched == [(scope, "travel"), (scope, "legal")]
    assert bases.scopes == [scope]


async def test_looks_at_a_few_bases_only() -> None:
    index = OnePassageEach()
    many = Bases(*(f"kb{i}" for i in range(20)))
    await GradedBases(index, many, FakeGrader()).holding(LOCAL, "How much?", besides=["kb"])
    assert len(index.searched) == MOST_BASES
