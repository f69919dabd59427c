"""What one pipeline did with one golden question: a line of records.jsonl."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TextIO

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from eval.golden import GoldenQuestion
from ingest.errors import ConfigurationError
from nodes.state import Outcome, Reason

Pipeline = Literal["corrective", "naive"]
PIPELINES: tuple[Pipeline, ...] = ("corrective", "naive")
Stage = Literal["retrieved", "reranked", "graded", "corrected"]
STAGES: tuple[Stage, ...] = ("retrieved", "reranked", "graded", "corrected")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class Cited(_Frozen):
    """A citation, checked again by the evaluation: empty `problem` where its offsets and hash hold
    and its quote supports the sentence."""

    chunk_id: str
    document: str
    quote: str
    problem: str = ""


class Told(_Frozen):
    """A sentence of an answer; `supported` is the run's own grounding verdict, None without one."""

    text: str
    supported: bool | None
    citations: list[Cited]


class Ran(_Frozen):
    """What a pipeline did. `stages` are chunk ids, best first: what the first search found, after
    the reranker, what survived the first grading, and what survived in all loops.

    `best_grade` is in [0, 1], None where nothing was graded, and so is `confidence`, None where
    nothing was answered; times are milliseconds; `passages` are
    the texts an answer could rest on, at most five.
    """

    outcome: Outcome
    reason: Reason | None = None
    answer: str = ""
    sentences: list[Told] = []
    stages: dict[Stage, list[str]]
    passages: list[str] = []
    best_grade: float | None = None
    confidence: float | None = None
    loops: int = 0
    chat_calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    total_ms: float
    node_ms: dict[str, float] = {}
    degraded: list[str] = []
    trace: list[dict[str, Any]] = []


class Record(_Frozen):
    """Either `ran` or `error` is there. `relevant` are the chunk ids its labels point at."""

    pipeline: Pipeline
    golden: GoldenQuestion
    relevant: list[str]
    ran: Ran | None = None
    error: str | None = None

    @model_validator(mode="after")
    def _ran_or_failed(self) -> Self:
        if (self.ran is None) == (self.error is None):
            raise ValueError("a record has either `ran` or `error`")
        return self

    @property
    def key(self) -> tuple[str, str]:
        return self.pipeline, self.golden.id


def write_record(file: TextIO, record: Record) -> None:
    """At once: an evaluation that is interrupted leaves what it had."""
    file.write(record.model_dump_json() + "\n")
    file.flush()


def write_records(file: Path, records: Iterable[Record]) -> None:
    """In the place of what the file held: an interruption leaves the one or the other."""
    fresh = file.with_name(f"{file.name}.new")
    with fresh.open("w", encoding="utf-8", newline="\n") as written:
        for record in records:
            write_record(written, record)
    fresh.replace(file)


def read_records(file: Path, *, cut_short: bool = False) -> list[Record]:
    """`cut_short`: the last line may be half written, in the middle of a character even. Raises
    ConfigurationError with the line number."""
    try:
        content = file.read_bytes()
        ended = content[: content.rfind(b"\n") + 1]
        lines = _decoded(content, ended if cut_short else content).split("\n")
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}; `crag eval run` writes it") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file}: not UTF-8; `crag eval run` writes it") from None
    records: list[Record] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                records.append(Record.model_validate_json(line))
            except ValidationError as error:
                if cut_short and number == len(lines):
                    break
                said = error.errors(include_url=False)[0]["msg"]
                raise ConfigurationError(f"{file}:{number}: no record: {said}") from None
    return records


def _decoded(content: bytes, instead: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return instead.decode("utf-8")


def of_pipeline(records: Sequence[Record], pipeline: Pipeline) -> list[Record]:
    return [record for record in records if record.pipeline == pipeline]
