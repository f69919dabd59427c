"""What requests may carry: every length bounded, unknown fields refused."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from graph.asking import MAX_QUESTION, THREAD_ID
from ingest.acl import MAX_ENTRIES
from ingest.loaders.normalise import printable

MAX_TURNS = 50
MAX_BASES = 20
MAX_ANSWER = 20_000
MAX_OPTIONS = 64
MAX_FIELDS = 100


def not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Question = Annotated[
    str,
    Field(min_length=1, max_length=MAX_QUESTION),
    AfterValidator(printable),
    AfterValidator(not_blank),
]
BaseName = Annotated[str, Field(min_length=1, max_length=63, examples=["handbook"])]
BaseNames = Annotated[
    BaseName | Annotated[list[BaseName], Field(min_length=1, max_length=MAX_BASES)],
    Field(
        description="A knowledge base, several as a list, or `auto`: all that you may read.",
        examples=["handbook", ["handbook", "products"], "auto"],
    ),
]
Examples = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=500), AfterValidator(printable)]],
    Field(max_length=50, description="Questions that the base answers; `auto` routes by them."),
]
ThreadId = Annotated[str, Field(pattern=f"^{THREAD_ID}$", examples=["chat-17"])]
Filters = Annotated[
    dict[str, Any],
    Field(
        description="Values that a passage must have: document_id, language, version, status; "
        "a scalar, or a list of which one must match; or a range of version or effective (a date), "
        "with from, to or both, which are in it.",
        examples=[{"language": "en", "effective": {"from": "2024-01-01"}}],
    ),
]


Acl = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=MAX_ENTRIES,
        description="Who of the tenant may read it: `*`, `user:NAME`, `group:NAME`.",
        examples=[["group:hr", "user:alice"]],
    ),
]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _of_few_fields(cls, given: Any) -> Any:
        """Else each of a hundred thousand unknown ones would get an error of its own."""
        if isinstance(given, dict) and len(given) > MAX_FIELDS:
            raise ValueError(f"has at most {MAX_FIELDS} fields")
        return given


class TurnBody(Body):
    """An earlier exchange; the question may lean on it."""

    question: str = Field(max_length=MAX_QUESTION)
    answer: str = Field("", max_length=MAX_ANSWER)


class AskBody(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "question": "How many days of parental leave can I take?",
                    "knowledge_base": "handbook",
                },
                {
                    "question": "And for a second child?",
                    "knowledge_base": "handbook",
                    "thread_id": "chat-17",
                    "filters": {"language": "en"},
                    "options": {"rewrites": 1, "deadline_s": 10},
                },
            ]
        }
    )

    question: Question
    knowledge_base: BaseNames
    history: list[TurnBody] = Field([], max_length=MAX_TURNS)
    thread_id: ThreadId | None = None
    filters: Filters = Field(default_factory=dict)
    options: dict[str, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description="Options of this run. They may tighten truth thresholds and lower budgets.",
    )

    @property
    def bases(self) -> str:
        """As a run is asked: several names by commas."""
        given = self.knowledge_base
        return given if isinstance(given, str) else ",".join(given)


class SearchBody(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"question": "parental leave", "knowledge_base": "handbook", "limit": 5}]
        }
    )

    question: Question
    knowledge_base: BaseName
    limit: int = Field(10, ge=1, le=100)
    filters: Filters = Field(default_factory=dict)


class DescriptionBody(Body):
    description: str = Field("", max_length=2_000, description="What the base holds.")
    examples: Examples = Field([])


class AccessBody(Body):
    acl: Acl


class NewKnowledgeBase(Body):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "handbook", "description": "Company handbook"}]}
    )

    name: str = Field(
        max_length=200, description="1 to 63 of a-z, 0-9, - and _; starts with a-z or 0-9."
    )
    description: str = Field("", max_length=2_000)
    examples: Examples = Field([])
    acl: Acl = Field(["*"])
    web: bool = Field(False, description="May the web be searched where the base has no answer?")
