"""What the nodes need from outside. Each raises ServiceError when it cannot do its work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ingest.documents import Candidate, Chunk
from ingest.filters import Filters
from ingest.fusion import Fusion, Merge
from ingest.records import DocumentRecord, KnowledgeBase
from ingest.scope import Scope
from nodes.findings import Evidence, Grade, Rejected, Sentence, Support
from nodes.kept_answer import FoundAnswer, KeptAnswer
from nodes.state import Turn


class Retriever(Protocol):
    """ingest.index.Index is the one implementation."""

    async def search(
        self,
        scope: Scope,
        knowledge_base: str,
        question: str,
        queries: Sequence[str],
        *,
        limit: int,
        filters: Filters,
        fusion: Fusion = "blend",
        exact: bool = False,
        merge: Merge = "best",
        made_up: Sequence[str] = (),
    ) -> list[Candidate]: ...


class NamedBases(Protocol):
    """ingest.live.LiveBases is the one implementation."""

    async def named(self, scope: Scope, asked: str) -> list[KnowledgeBase]:
        """Those of this scope that a name, a list by commas, or `auto` stands for. Raises
        UnknownKnowledgeBase, for one that this scope may not read as well."""


class Router(Protocol):
    """Says which of several knowledge bases a question is for."""

    async def scores(
        self, scope: Scope, question: str, bases: Sequence[str]
    ) -> Mapping[str, float]:
        """A score of each, higher is likelier, from what this scope may read alone."""


class Documents(Protocol):
    """What a base holds, for this scope. ingest.index.Index is the one implementation."""

    async def documents(self, scope: Scope, knowledge_base: str) -> list[DocumentRecord]: ...


class Reranker(Protocol):
    """Orders candidates by the question. Scores of every candidate, best first."""

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]: ...


@dataclass(frozen=True)
class GradedPassages:
    """A grade for each passage in the order given, None where there is no verdict.

    `degraded` says in a sentence why verdicts are weaker than usual, or is empty; `kind` and
    `fallback` are what the answer object says of it. `query` is what a grader that has read them
    would search for next; empty where it proposes nothing.
    """

    grades: list[Grade | None]
    degraded: str = ""
    kind: str = "uncalibrated"
    fallback: str = "ambiguous at best"
    query: str = ""


class Grader(Protocol):
    """Judges whether a passage contains what answers the question: more than being near it.

    `among` are the candidates of this loop, best first, which a passage may be compared with.
    `upper` and `lower` override the calibration's own thresholds.
    """

    async def grade(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        among: Sequence[Candidate],
        upper: float | None,
        lower: float | None,
    ) -> GradedPassages: ...


class Confidence(Protocol):
    """The probability in [0, 1] that a draft is right, from the signs of nodes/confidence.py."""

    def probability(self, signs: Mapping[str, float]) -> float: ...


class OtherBases(Protocol):
    """Looks where the run did not."""

    async def holding(self, scope: Scope, question: str, *, besides: Sequence[str]) -> list[str]:
        """Names of other knowledge bases in this scope with a passage graded correct."""


class QueryWriter(Protocol):
    """Words questions and queries anew, with a chat model."""

    async def standalone(self, question: str, history: Sequence[Turn]) -> str:
        """The question with what the history tells of it put in."""

    async def rewritten(
        self, question: str, *, tried: Sequence[str], rejected: Sequence[str]
    ) -> str:
        """Another query than those tried, for what was not found."""

    async def parts(self, question: str) -> list[str]:
        """The single questions of one that asks several things."""

    async def phrasings(self, question: str, count: int) -> list[str]:
        """The question in other words, `count` times at most."""

    async def synonyms(self, question: str) -> list[str]:
        """Other words for its key words, in its language."""

    async def next_hop(self, question: str, asked: Sequence[str], passages: Sequence[str]) -> str:
        """The next single question to look up, with what the passages say in it; empty where
        nothing is left to look up, or one look-up is enough."""

    async def step_back(self, question: str) -> str:
        """A more general question, whose answer is the background of this one (Zheng et al.,
        ICLR 2024)."""

    async def made_up(self, question: str) -> str:
        """A passage as one that answers would read, true or not (HyDE; Gao et al., ACL 2023)."""


@dataclass(frozen=True)
class WebResult:
    url: str
    title: str
    text: str


class WebSearch(Protocol):
    """Searches the public web. Raises DependencyError; `reason` tells what failed."""

    @property
    def missing(self) -> str:
        """Why it cannot run here, such as a missing key; empty where it can."""

    async def search(self, query: str) -> list[WebResult]: ...


@dataclass(frozen=True)
class Draft:
    """Sentences in the order they are read; empty where the evidence holds no answer.

    `degraded` says in a sentence what was done instead of the usual, or is empty; `kind` is that
    of the fault behind it.
    """

    sentences: list[Sentence]
    degraded: str = ""
    kind: str = "weaker"


class Generator(Protocol):
    """Writes an answer from the evidence, citing it.

    In a repair, `rejected` are the sentences that must not come again, each with what speaks
    against it, and `kept` those that are told in any case: what is written stands beside them.
    """

    async def generate(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        limit: int,
        rejected: Sequence[Rejected],
        kept: Sequence[Sentence],
    ) -> Draft: ...


@dataclass(frozen=True)
class Sources:
    """The stored texts that citations point into, by (document id, revision), as they are now, and
    the passages of the evidence as they were found."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    passages: list[Chunk] = field(default_factory=list)


class SourceTexts(Protocol):
    """Reads stored documents. ingest.index.Index is the one implementation."""

    async def text(
        self, scope: Scope, knowledge_base: str, document_id: str, revision: str
    ) -> str | None: ...


class KnownVersion(Protocol):
    """Tells which state of a base is searched. ingest.index.Index is the one implementation."""

    async def version(self, scope: Scope, knowledge_base: str) -> str: ...


class AnswerCache(Protocol):
    """Keeps answers for a while. It can only be asked by a key that says all that decides them."""

    async def find(self, key: str, question: str) -> FoundAnswer | None:
        """What is kept under the key, where its question is near enough to this one."""

    async def keep(self, key: str, answer: KeptAnswer) -> None: ...


class GroundingChecker(Protocol):
    """A verdict for each sentence against the passages it cites, in the order given."""

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]: ...


@runtime_checkable
class StagedChecker(GroundingChecker, Protocol):
    """A checker that settles the clear sentences first, so that they are told before `check`, which
    may call a model, has judged the others in one round."""

    async def settled(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support | None]:
        """The verdicts in the order given; None for what is left to `check`."""
