"""Question sets with labels: BEIR folders, golden files and folders of excerpts."""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from eval.golden import Split, load_golden_set
from eval.labelled_rows import numbered_lines
from ingest.errors import ConfigurationError

Side = Literal["tune", "report", "all"]


@dataclass(frozen=True)
class Question:
    """`relevant` maps document ids to a gain >= 1; `answers` are strings of a right answer.

    `quotes` are (document, words that answer) of golden sets; a question without relevant
    documents has no answer in the base. `history` are the (question, answer) pairs before it.
    """

    id: str
    text: str
    relevant: dict[str, int]
    answers: list[str] = field(default_factory=list)
    quotes: list[tuple[str, str]] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    history: list[tuple[str, str]] = field(default_factory=list)

    @property
    def answerable(self) -> bool:
        return bool(self.relevant)


@dataclass(frozen=True)
class Dataset:
    """Documents as (id, title, text), and the questions on them."""

    name: str
    documents: list[tuple[str, str, str]]
    questions: list[Question]


def load_beir(folder: Path, *, split: str = "test", side: Side = "all") -> Dataset:
    """A folder with corpus.jsonl[.gz], queries.jsonl[.gz] and qrels/SPLIT.tsv.

    `side` keeps the half of the questions whose sha256 of the id is even (tune) or odd (report).
    Only judged questions are kept. Raises ConfigurationError where a file is missing, and with its
    number for a line that is none of its kind.
    """
    qrels = _qrels(folder / "qrels" / f"{split}.tsv")
    documents = [
        (row["_id"], row.get("title") or "", row["text"])
        for row in _rows(folder, "corpus.jsonl", needs=("_id", "text"))
    ]
    questions = [
        Question(
            row["_id"],
            row["text"],
            qrels[row["_id"]],
            _answers(row.get("metadata") or {}),
            history=history_of(row.get("metadata") or {}),
        )
        for row in _rows(folder, "queries.jsonl", needs=("_id", "text"))
        if row["_id"] in qrels and on_side(row["_id"], side)
    ]
    return Dataset(folder.name, documents, questions)


def load_golden(file: Path, *, side: Side = "all", split: Split | None = None) -> list[Question]:
    """The questions of a golden set, or of one split of it. Raises ConfigurationError as
    load_golden_set does."""
    return [
        Question(
            id=golden.id,
            text=golden.question,
            relevant={label.document: 1 for label in golden.relevant},
            answers=golden.must_contain,
            quotes=[(label.document, label.quote) for label in golden.relevant],
            forbidden=golden.forbidden,
            tags=golden.tags,
        )
        for golden in load_golden_set(file)
        if on_side(golden.id, side) and split in (None, golden.split)
    ]


def load_excerpts(folder: Path, *, side: Side = "all") -> list[Question]:
    """Questions of a folder with corpora/*.md and questions.jsonl, whose `references` are the
    excerpts that answer, as in Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval"
    (Chroma, 2024). Raises ConfigurationError as load_golden does.
    """
    questions = []
    for number, row in enumerate(_rows(folder, "questions.jsonl"), start=1):
        try:
            document = f"{row['corpus_id']}.md"
            quotes = [(document, reference["content"]) for reference in row["references"]]
            question = Question(row["id"], row["question"], {document: 1}, quotes=quotes)
        except (KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{folder}/questions.jsonl:{number}: no question with references: {error}"
            ) from None
        if on_side(question.id, side):
            questions.append(question)
    return questions


Row = TypeVar("Row", bound="Identified")


class Identified(Protocol):
    @property
    def id(self) -> str: ...


def sampled(rows: Sequence[Row], size: int | None) -> list[Row]:
    """So many of the rows, always the same ones however they are sorted: the first by the sha256 of
    their ids. None keeps all, in their order."""
    if size is None:
        return list(rows)
    return sorted(rows, key=lambda row: hashlib.sha256(row.id.encode()).hexdigest())[:size]


def on_side(identity: str, side: Side) -> bool:
    if side == "all":
        return True
    even = int(hashlib.sha256(identity.encode()).hexdigest(), 16) % 2 == 0
    return even == (side == "tune")


def _rows(folder: Path, name: str, *, needs: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a file, each with text under the keys that it needs."""
    packed, plain = folder / f"{name}.gz", folder / name
    path = packed if packed.exists() else plain
    if not path.exists():
        raise ConfigurationError(f"{folder} has no {name} or {name}.gz: wrong folder?")
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ConfigurationError(f"{path}:{number}: no JSON: {error}") from None
        if not isinstance(row, dict):
            raise ConfigurationError(f"{path}:{number}: no JSON object")
        for key in needs:
            if not isinstance(row.get(key), str):
                raise ConfigurationError(f"{path}:{number}: {key!r} is missing or no text")
        yield row


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    if not path.exists():
        raise ConfigurationError(f"{path} is missing: a BEIR folder has qrels")
    qrels: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        for row in rows:
            try:
                question, document, gain = row["query-id"], row["corpus-id"], int(row["score"])
            except (KeyError, TypeError, ValueError):
                raise ConfigurationError(
                    f"{path}:{rows.line_num}: needs query-id, corpus-id and a whole score, by tabs"
                ) from None
            if gain > 0:
                qrels.setdefault(question, {})[document] = gain
    return qrels


def _answers(metadata: dict[str, Any]) -> list[str]:
    answers = metadata.get("answers") or metadata.get("answer") or []
    return [answers] if isinstance(answers, str) else [str(answer) for answer in answers]


def history_of(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was said before, as (question, answer) pairs, from a list of {role, content}; an answer
    belongs to the question before it."""
    turns: list[tuple[str, str]] = []
    for turn in metadata.get("history") or []:
        if turn.get("role") == "user":
            turns.append((turn.get("content", ""), ""))
        elif turns:
            turns[-1] = (turns[-1][0], turn.get("content", ""))
    return turns
