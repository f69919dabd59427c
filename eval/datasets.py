"""Question sets with labels: BEIR folders, golden files and folders of excerpts."""

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from eval.golden import load_golden_set
from ingest.errors import ConfigurationError

Side = Literal["tune", "report", "all"]


@dataclass(frozen=True)
class Question:
    """`relevant` maps document ids to a gain >= 1; `answers` are strings of a right answer.

    `quotes` are (document, words that answer) of golden sets; a question without relevant
    documents has no answer in the base.
    """

    id: str
    text: str
    relevant: dict[str, int]
    answers: list[str] = field(default_factory=list)
    quotes: list[tuple[str, str]] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

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
    Only judged questions are kept. Raises ConfigurationError where a file is missing.
    """
    qrels = _qrels(folder / "qrels" / f"{split}.tsv")
    documents = [
        (row["_id"], row.get("title") or "", row["text"]) for row in _rows(folder, "corpus.jsonl")
    ]
    questions = [
        Question(row["_id"], row["text"], qrels[row["_id"]], _answers(row.get("metadata") or {}))
        for row in _rows(folder, "queries.jsonl")
        if row["_id"] in qrels and on_side(row["_id"], side)
    ]
    return Dataset(folder.name, documents, questions)


def load_golden(file: Path, *, side: Side = "all") -> list[Question]:
    """The questions of a golden set. Raises ConfigurationError as load_golden_set does."""
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
        if on_side(golden.id, side)
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


def on_side(identity: str, side: Side) -> bool:
    if side == "all":
        return True
    even = int(hashlib.sha256(identity.encode()).hexdigest(), 16) % 2 == 0
    return even == (side == "tune")


def _rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    packed, plain = folder / f"{name}.gz", folder / name
    if packed.exists():
        with gzip.open(packed, "rt", encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.strip())
    elif plain.exists():
        with plain.open(encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.strip())
    else:
        raise ConfigurationError(f"{folder} has no {name} or {name}.gz: wrong folder?")


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    if not path.exists():
        raise ConfigurationError(f"{path} is missing: a BEIR folder has qrels")
    qrels: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return qrels


def _answers(metadata: dict[str, Any]) -> list[str]:
    answers = metadata.get("answers") or metadata.get("answer") or []
    return [answers] if isinstance(answers, str) else [str(answer) for answer in answers]
