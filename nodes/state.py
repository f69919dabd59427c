"""What a run knows at each step: plain, small, and the same after a checkpoint."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_type_hints

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from ingest.documents import Candidate
from ingest.filters import Filters
from nodes.findings import Evidence, Grade, Rejected, Sentence, Support

Outcome = Literal[
    "answered", "answered_partially", "refused", "needs_clarification", "no_retrieval"
]
Reason = Literal[
    "no_evidence", "ungrounded", "conflicting", "out_of_scope", "budget", "dependency_down"
]
Status = Literal["ok", "fallback", "error"]
Technique = Literal[
    "original", "part", "hop", "bridge", "phrasing", "synonyms", "step_back", "hyde", "rephrased",
    "keywords", "feedback", "widened",
]  # fmt: skip

Correction = Literal["rephrased", "keywords", "feedback", "widened"]
"""Those of a correction: what a next loop searches with."""


@dataclass(frozen=True)
class Turn:
    """One earlier exchange of the conversation."""

    question: str
    answer: str


@dataclass(frozen=True)
class Query:
    """What is searched with. `technique` says how it came from the question; where there is
    `embedded`, its vector stands in for that of the text."""

    text: str
    technique: Technique = "original"
    loop: int = 0
    embedded: str = ""


@dataclass(frozen=True)
class Degraded:
    """A fallback that was taken: which node, what kind of fault, what was done instead."""

    node: str
    kind: str
    fallback: str
    detail: str


@dataclass(frozen=True)
class TraceEntry:
    """One execution of a node. `ms` is wall time."""

    seq: int
    node: str
    attempt: int
    started_at: str
    ms: float
    status: Status
    summary: dict[str, Any]


@dataclass(frozen=True)
class Spent:
    """What the run has used of its budget. `usd` is 0 where no price is set."""

    rewrites: int = 0
    chat_calls: int = 0
    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True)
class State:
    """The fields of one run. `turns` alone outlives it, on a thread.

    question: what the person asked; it never changes.
    standalone: the question with the history folded in; rerank, grade, generate and ground use it.
    bases: the knowledge bases that may be searched, where several were asked for.
    routed: those of them that are searched; a correction widens a route to all.
    queries: every query of every loop, the newest loop last.
    question_filters: what the question names, such as a version, until a correction drops it.
    candidates: what the last search found, best first.
    graded: a grade for each chunk id that was graded in any loop.
    copies: near duplicates that a candidate stands for, by its chunk id.
    evidence: graded correct or ambiguous in any loop, best first.
    instructions: chunk ids of graded passages that hold orders to a model; those are not told.
    new_chunks: how many candidates of the last search had not been graded before.
    proposed: what the grader would search for next; empty where it says nothing.
    reservations: why the draft is no full answer, such as documents that disagree.
    kept: sentences that stand while another is repaired; `supports` are the verdicts on them.
    confidence: probability that the answer is right, before its grounding is checked, in [0, 1].
    choices: what an underspecified question may mean.
    suggestions: what would help after a refusal, as sentences.
    cache_key: what the answer may be kept under; empty where it may not.
    """

    question: str = ""
    knowledge_base: str = ""
    history: list[Turn] = field(default_factory=list)
    filters: Filters = field(default_factory=Filters)
    started_at: float = 0.0
    turns: list[Turn] = field(default_factory=list)
    standalone: str = ""
    bases: list[str] = field(default_factory=list)
    routed: list[str] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    derived_filters: Filters = field(default_factory=Filters)
    question_filters: Filters = field(default_factory=Filters)
    wide: bool = False
    candidates: list[Candidate] = field(default_factory=list)
    candidates_seen: list[str] = field(default_factory=list)
    copies: dict[str, list[Candidate]] = field(default_factory=dict)
    graded: dict[str, Grade] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    new_chunks: int = 0
    proposed: str = ""
    loops_over: str = ""
    web_searched: bool = False
    web_sent: str = ""
    draft: list[Sentence] = field(default_factory=list)
    reservations: list[str] = field(default_factory=list)
    kept: list[Sentence] = field(default_factory=list)
    supports: list[Support] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    repairs: int = 0
    spent: Spent = field(default_factory=Spent)
    degraded: list[Degraded] = field(default_factory=list)
    failed: str = ""
    outcome: Outcome | None = None
    reason: Reason | None = None
    confidence: float | None = None
    choices: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    cache_key: str = ""
    trace: list[TraceEntry] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Objects of JSON become what they stand for: a client sends such, and an edited
        checkpoint holds them. Raises ValidationError where they stand for nothing."""
        for name, value in vars(self).items():
            if any(isinstance(item, dict) for item in _items(name, value)):
                object.__setattr__(self, name, _reader(name).validate_python(value))


GIVEN = ("question", "knowledge_base", "history", "filters", "started_at", "turns")
"""The fields that a run is given; it fills the others itself."""


def begun(state: State) -> State:
    """The state that a run begins with: nothing of an earlier run on the thread is left."""
    return State(**{name: getattr(state, name) for name in GIVEN})


class Update(TypedDict, total=False):
    """What a node changes: some fields of State, and a `summary` for its trace entry."""

    question: str
    turns: list[Turn]
    standalone: str
    bases: list[str]
    routed: list[str]
    queries: list[Query]
    derived_filters: Filters
    question_filters: Filters
    wide: bool
    candidates: list[Candidate]
    candidates_seen: list[str]
    copies: dict[str, list[Candidate]]
    graded: dict[str, Grade]
    evidence: list[Evidence]
    instructions: list[str]
    new_chunks: int
    proposed: str
    loops_over: str
    web_searched: bool
    web_sent: str
    draft: list[Sentence]
    reservations: list[str]
    kept: list[Sentence]
    supports: list[Support]
    rejected: list[Rejected]
    repairs: int
    spent: Spent
    degraded: list[Degraded]
    failed: str
    outcome: Outcome | None
    reason: Reason | None
    confidence: float | None
    choices: list[str]
    suggestions: list[str]
    cache_key: str
    summary: dict[str, Any]


def _items(name: str, value: Any) -> Iterable[Any]:
    if name == "graded":
        return value.values()  # type: ignore[no-any-return]
    if name == "copies":
        return [copy for copies in value.values() for copy in copies]
    return value if isinstance(value, list) else [value]


@cache
def _reader(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(State)[name])
