"""What an ablation asks: a BEIR folder by its rankings, or a golden set by its answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eval.corpora import base_name, ensure_base, ingest_golden
from eval.corrective import whole_run
from eval.datasets import Dataset, Question
from eval.first_search import first_search
from eval.golden import GoldenQuestion
from eval.kept import key_of
from eval.metrics import question_rows
from eval.retrieval import retrieval_values
from eval.runner import run_questions
from eval.techniques import Technique
from graph.compose import Service
from ingest.errors import ServiceError
from ingest.scope import LOCAL

Values = dict[int, dict[str, float]]


@dataclass(frozen=True)
class BeirSet:
    """Rankings of documents: of the first search for what changes it, else of whole runs."""

    dataset: Dataset
    questions: Sequence[Question]

    @property
    def name(self) -> str:
        return self.dataset.name

    @cached_property
    def ids(self) -> Sequence[str]:
        return [key_of(q.id, repr((q.text, q.relevant, q.history))) for q in self.questions]

    @cached_property
    def base(self) -> str:
        return base_name(self.dataset)

    def kind(self, technique: Technique) -> str:
        return technique.changes

    async def prepare(self, service: Service) -> str:
        base = await ensure_base(service.corpus, self.dataset)
        return await service.corpus.index.version(LOCAL, base)

    async def values(
        self, service: Service, kind: str, numbers: Sequence[int]
    ) -> tuple[Values, list[str]]:
        found: Values = {}
        errors: list[str] = []
        for n in numbers:
            try:
                found[n] = await self._row(service, kind, self.questions[n])
            except ServiceError as error:
                errors.append(f"{self.questions[n].id}: {error.code}: {error.message}")
        return found, errors

    async def _row(self, service: Service, kind: str, question: Question) -> dict[str, float]:
        if kind == "search":
            ranked, spent = await first_search(service, self.base, question)
            costs = {"chat_calls": float(spent.chat_calls), "usd": spent.usd}
        else:
            run = await whole_run(service, self.base, question)
            ranked, costs = run.ranked, {"chat_calls": float(run.chat_calls), "usd": run.usd}
        metrics = {name: own[0] for name, own in retrieval_values([ranked]).items()}
        return metrics | {"ms": ranked.ms} | costs


@dataclass(frozen=True)
class GoldenSet:
    """Answers of whole runs; `documents` are ingested first where they are given."""

    name: str
    questions: Sequence[GoldenQuestion]
    documents: Path | None = None

    @cached_property
    def ids(self) -> Sequence[str]:
        return [key_of(question.model_dump_json()) for question in self.questions]

    def kind(self, technique: Technique) -> str:
        return "run"

    async def prepare(self, service: Service) -> str:
        bases = list(dict.fromkeys(question.knowledge_base for question in self.questions))
        if self.documents is not None:
            for base in bases:
                await ingest_golden(service.corpus, self.documents, base)
        index = service.corpus.index
        return "+".join(await asyncio.gather(*(index.version(LOCAL, base) for base in bases)))

    async def values(
        self, service: Service, kind: str, numbers: Sequence[int]
    ) -> tuple[Values, list[str]]:
        found: Values = {}
        errors: list[str] = []
        places = {self.questions[n].id: n for n in numbers}
        chosen = [self.questions[n] for n in numbers]
        async for record in run_questions(service, chosen, ["corrective"], progress=_quiet):
            if record.ran is None:
                errors.append(f"{record.golden.id}: {record.error}")
                continue
            row = question_rows([record], "corrective")[record.golden.id]
            costs = {"ms": record.ran.total_ms, "usd": record.ran.usd}
            found[places[record.golden.id]] = row | costs
        return found, errors


def _quiet(done: int, total: int) -> None:
    """The ablation tells how far it is by itself."""
