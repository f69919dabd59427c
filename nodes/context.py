"""The options of one run: JSON only, so that Studio shows them as a form."""

from datetime import UTC, date, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ingest.fusion import Fusion, Merge
from ingest.scope import LOCAL, Scope
from nodes.state import Correction


class Context(BaseModel):
    """Options of a run, with the service's settings as defaults.

    The budget: `rewrites`, `chat_calls`, `tokens`, and `deadline_s` of wall time; None means no
    deadline.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tenant: str = Field("local", description="The tenant whose documents are searched.")
    principals: list[str] = Field([], description="Users and groups for document access.")
    candidates: int = Field(50, ge=1, le=200, description="Hits of each arm of a search.")
    keep: int = Field(5, ge=1, le=20, description="Candidates that are graded in a loop.")
    fusion: Fusion = Field("blend", description="How the arms are merged, or which one searches.")
    source_candidates: int | None = Field(
        None, ge=1, le=25, description="Hits of each arm in each folder; None: in all as one."
    )
    exact: bool = Field(False, description="Search without the approximate index.")
    chat_rerank: Literal["", "pointwise", "listwise"] = Field(
        "", description="How a chat model orders candidates; empty: as the service does."
    )
    rerank: bool = Field(True, description="Off, the order of retrieval stays.")
    collapse: bool = Field(False, description="Near duplicates count once, all are cited.")
    per_document: int | None = Field(
        None, ge=1, le=20, description="Candidates of one document that come first; None: all."
    )
    per_source: int | None = Field(
        None, ge=1, le=50, description="Candidates of one folder that come first; None: all."
    )
    latest: bool = Field(True, description="Versions of a document that another replaces: last.")
    mmr: float = Field(
        1.0, ge=0, le=1, description="Weight of relevance against being new; 1: relevance alone."
    )
    upper: float | None = Field(
        None, ge=0, le=1, description="Graded correct from here; None: the calibration's own."
    )
    lower: float | None = Field(
        None, ge=0, le=1, description="Graded incorrect below; None: the calibration's own."
    )
    min_confidence: float = Field(
        0.6, ge=0, le=1, description="Declined below this probability of a right answer."
    )
    clarify: bool = Field(True, description="Ask back where a question may mean several things.")
    sentences: int = Field(5, ge=1, le=10, description="Sentences of an extractive answer.")
    query_filters: bool = Field(
        False, description="Filter by a version, language, product or time that a question names."
    )
    parts: bool = Field(
        True, description="A question that asks several things is searched in its parts, too."
    )
    route: bool = Field(
        False, description="Of several bases, search first the one that a question is for."
    )
    route_margin: float = Field(
        0.1, ge=0, le=2, description="Lead that a base needs for that; unsure, all are searched."
    )
    phrasings: int = Field(
        0, ge=0, le=5, description="Other wordings that are searched beside the question, at most."
    )
    synonyms: bool = Field(
        False, description="A chat model's synonyms beside the keywords are searched, too."
    )
    step_back: bool = Field(
        False, description="A chat model words a more general question, searched beside it."
    )
    hyde: bool = Field(
        False, description="Search by the vector of a passage that a chat model makes up, too."
    )
    hops: int = Field(
        0, ge=0, le=3, description="Look-ups of which a chat model puts one's answer into the next."
    )
    bridge: bool = Field(
        False, description="Search once more with the names of the best passage, in the same loop."
    )
    merge: Merge = Field(
        "best", description="Passages of several queries count by their best score, or by votes."
    )
    today: date | None = Field(
        None,
        ge=date(1900, 1, 1),
        le=date(2999, 12, 31),
        description='The day that "last month" is counted from; None: that of the run.',
    )
    strips: bool = Field(True, description="Chat models read graded strips, not whole passages.")
    around: int = Field(
        0, ge=0, le=4_000, description="Code points around a passage that a generator reads, too."
    )
    parent: int = Field(
        0,
        ge=0,
        le=20_000,
        description="Code points of a passage's section that a generator reads, at most; 0: none.",
    )
    web: bool = Field(False, description="Search the web when the base has no answer.")
    corrections: list[Correction] = Field(
        ["rephrased", "keywords", "feedback", "widened"],
        description="What a correction may search with; which one, the grading decides.",
    )
    rewrites: int = Field(3, ge=0, le=3, description="Loops of rewriting, at most.")
    chat_calls: int = Field(20, ge=0, description="Calls of a chat model, at most.")
    tokens: int = Field(60_000, ge=0, description="Tokens to and from chat models, at most.")
    cache: bool = Field(True, description="Use and keep answers of who may see the same.")
    mask: bool = Field(True, description="Mask secrets and e-mail addresses in the trace.")
    deadline_s: float | None = Field(30.0, gt=0, description="Seconds of wall time, at most.")

    def day(self, started_at: float) -> date:
        """The day that relative times are counted from, in UTC."""
        return self.today or datetime.fromtimestamp(started_at, UTC).date()

    @property
    def scope(self) -> Scope:
        return (
            LOCAL
            if self.tenant == LOCAL.tenant and not self.principals
            else Scope(self.tenant, self.principals)
        )


DEFAULTS = Context()
