"""Golden sets: questions with labels that survive re-chunking, checked when they are read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from eval.labels import holds_words, plain
from ingest.errors import ConfigurationError

Tag = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
Split = Literal["dev", "test"]

SHOWN = 20
"""Faults of a file that one error names."""


class Label(BaseModel):
    """Words of a document that answer, or help to; `document` is its path in its folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document: str = Field(min_length=1)
    quote: str = Field(min_length=1)


class Exchange(BaseModel):
    """What was said before a follow-up question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1)
    answer: str


class GoldenQuestion(BaseModel):
    """One line of a golden file.

    `must_contain` are texts that a right answer holds, all of them; without any, one of the quotes
    must be cited. `forbidden` are texts that no right answer holds. `note` is for its readers. Tags
    are the set's own; what unanswerable, near_miss, multi_hop and follow_up say is checked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    knowledge_base: str = ""
    question: str = Field(min_length=1)
    history: list[Exchange] = []
    answerable: bool
    relevant: list[Label]
    answer: str | None = None
    must_contain: list[str] = []
    forbidden: list[str] = []
    split: Split = "dev"
    tags: list[Tag] = []
    note: str = ""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        problems = list(_problems(self))
        if problems:
            raise ValueError("; ".join(problems))
        return self


def load_golden_set(file: Path) -> list[GoldenQuestion]:
    """The questions of a golden file, one JSON object a line.

    Raises ConfigurationError that names the lines which are no questions, or contradict themselves
    or each other.
    """
    questions: list[GoldenQuestion] = []
    faults: list[str] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, line in _lines(file):
        try:
            question = GoldenQuestion.model_validate_json(line)
        except ValidationError as error:
            faults += [f"{file}:{number}: {_said(problem)}" for problem in error.errors()]
            continue
        for key in (("id", question.id), ("question", _asked(question), question.knowledge_base)):
            if key in seen:
                named = f"{key[0]} {key[1]!r}"[:80]
                faults.append(f"{file}:{number}: {named} stands in line {seen[key]} already")
            seen.setdefault(key, number)
        questions.append(question)
    if faults:
        more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        raise ConfigurationError("; ".join(faults[:SHOWN] + more))
    if not questions:
        raise ConfigurationError(f"{file} has no questions")
    return questions


def _problems(question: GoldenQuestion) -> Iterator[str]:
    if not question.question.strip():
        yield "the question is white space"
    for label in question.relevant:
        if not plain(label.quote.replace("|", " ")):
            yield f"the quote {label.quote!r} of {label.document} has no words"
    if question.answerable and not question.relevant:
        yield "answerable, but nothing is relevant"
    if not question.answerable and (question.relevant or question.must_contain or question.answer):
        yield "not answerable, but it has relevant passages or an answer"
    for tag in ("unanswerable", "near_miss"):
        if question.answerable and tag in question.tags:
            yield f"answerable, but tagged {tag}"
    if "multi_hop" in question.tags and len({label.document for label in question.relevant}) < 2:
        yield "multi_hop needs relevant passages in two documents"
    if "follow_up" in question.tags and not question.history:
        yield "follow_up needs a history"
    if len({(x.document, plain(x.quote)) for x in question.relevant}) < len(question.relevant):
        yield "the same passage is relevant twice"
    if not all(plain(text) for text in [*question.must_contain, *question.forbidden]):
        yield "must_contain and forbidden need words"
    for wrong in question.forbidden:
        if any(holds_words(text, wrong) for text in question.must_contain):
            yield f"must_contain holds the forbidden {wrong!r}"


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        content = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigurationError(f"golden file {file}: {said}") from None
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            yield number, line


def _said(problem: Any) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    said = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said


def _asked(question: GoldenQuestion) -> str:
    history = [exchange.model_dump() for exchange in question.history]
    return plain(question.question) + (json.dumps(history) if history else "")
