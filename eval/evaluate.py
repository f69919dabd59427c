"""`crag eval run`: a golden set through both pipelines, into a folder of results."""

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.corpora import ingest_golden
from eval.datasets import sampled
from eval.golden import GoldenQuestion, Split, load_golden_set
from eval.metrics import measure
from eval.records import PIPELINES, Record, write_record, write_records
from eval.relevance import StaleLabels
from eval.report import write_reports
from eval.results import ASKED, METRICS, RECORDS, STALE
from eval.resume import asked_of, kept_records
from eval.runner import check_bases, deterministic, run_questions
from graph.compose import Service, open_graph
from graph.runner import PIPELINE_VERSION
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from ingest.scope import LOCAL
from nodes.prompts import PROMPT_VERSION

EVERY = 20
"""Runs between two lines of progress."""


@dataclass(frozen=True)
class Evaluation:
    """What to run: `knowledge_base` stands for that of every question, `documents` are ingested
    into it first, `limit` keeps the first questions, `sample` as many by the hash of their ids:
    the same ones however the file is sorted. `resume` goes on from the records in `out`."""

    golden: Path
    out: Path
    knowledge_base: str | None = None
    documents: Path | None = None
    split: Split | None = None
    limit: int | None = None
    sample: int | None = None
    resume: bool = False
    usd_per_million_tokens: float = 0.0


async def evaluate(settings: GraphSettings, evaluation: Evaluation) -> dict[str, Any]:
    """Writes records.jsonl, metrics.json, report.md and report.html; the metrics.

    What an earlier run left there goes first, so that it cannot stand for this one. Interrupted, it
    leaves the records it had, and one that resumes asks only what they lack; an error counts as
    lacking. Raises ConfigurationError, also where the kept records are of another golden set, of
    other settings or of another version, and the folder stays as it was; and StaleLabels for labels
    that no longer point at anything; the folder then holds only what they are.
    """
    questions = chosen(evaluation)
    if not evaluation.resume:
        _clear(evaluation.out)
    try:
        return await _evaluate(settings, evaluation, questions)
    except StaleLabels as stale:
        (evaluation.out / STALE).write_text(stale.message + "\n", encoding="utf-8")
        raise


async def _evaluate(
    settings: GraphSettings, evaluation: Evaluation, questions: Sequence[GoldenQuestion]
) -> dict[str, Any]:
    async with open_graph(deterministic(settings)) as service:
        await service.load()  # a model that cannot be used ends it, not each question
        if evaluation.documents is not None:
            for base in dict.fromkeys(question.knowledge_base for question in questions):
                await ingest_golden(service.corpus, evaluation.documents, base)
        await check_bases(service, questions)
        indexes = await _indexes(service, questions)
        about = _about(service, evaluation, indexes)
        asked = asked_of(about, indexes, service.settings)
        kept = kept_records(evaluation.out, asked, questions) if evaluation.resume else []
        _clear(evaluation.out, but=(RECORDS, ASKED))
        (evaluation.out / ASKED).write_text(json.dumps(asked, indent=2) + "\n", encoding="utf-8")
        records = await run_and_keep(service, questions, evaluation.out / RECORDS, kept)
    metrics = measure(
        records, about=about, usd_per_million_tokens=evaluation.usd_per_million_tokens
    )
    write_metrics(evaluation.out / METRICS, metrics)
    write_reports(evaluation.out, records, metrics)
    return metrics


async def run_and_keep(
    service: Service, questions: Sequence[GoldenQuestion], file: Path, kept: Sequence[Record] = ()
) -> list[Record]:
    """The records, each also written to the file as it comes; `kept` are not run again, and
    another interruption loses none of them. In the end the file is in the order of the questions,
    however often the run was cut short."""
    records: list[Record] = []
    write_records(file, kept)
    with file.open("a", encoding="utf-8", newline="\n") as written:
        async for record in run_questions(service, questions, PIPELINES, kept, progress=_say):
            if record not in kept:
                write_record(written, record)
            records.append(record)
    if kept:
        write_records(file, records)
    return records


def chosen(evaluation: Evaluation) -> list[GoldenQuestion]:
    """The questions that this evaluation asks. Raises ConfigurationError where there is none."""
    questions = [
        question
        for question in load_golden_set(evaluation.golden)
        if evaluation.split in (None, question.split)
    ][: evaluation.limit]
    questions = sampled(questions, evaluation.sample)
    if not questions:
        raise ConfigurationError(f"{evaluation.golden} has no question of split {evaluation.split}")
    if evaluation.knowledge_base is not None:
        named = {"knowledge_base": evaluation.knowledge_base}
        questions = [question.model_copy(update=named) for question in questions]
    nameless = [question.id for question in questions if not question.knowledge_base]
    if nameless:
        raise ConfigurationError(
            f"question {nameless[0]} names no knowledge_base; give one with --kb"
        )
    return questions


def _clear(out: Path, *, but: Sequence[str] = ()) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (RECORDS, ASKED, METRICS, STALE, "report.md", "report.html"):
            if name not in but:
                (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(f"--out {out} cannot be a folder: {error.strerror}") from None


def write_metrics(file: Path, metrics: dict[str, Any]) -> None:
    """Raises ValueError for a NaN: it is no JSON, and no measurement."""
    text = json.dumps(metrics, indent=2, ensure_ascii=False, allow_nan=False)
    file.write_text(text + "\n", encoding="utf-8")


async def _indexes(service: Service, questions: Sequence[GoldenQuestion]) -> dict[str, str]:
    """The version of each base that is asked."""
    bases = dict.fromkeys(question.knowledge_base for question in questions)
    return {base: await service.corpus.index.version(LOCAL, base) for base in bases}


def _about(service: Service, evaluation: Evaluation, indexes: dict[str, str]) -> dict[str, Any]:
    settings = service.settings.model_dump(mode="json", include={"retrieve", "rerank", "grade",
        "answer", "budget"})  # fmt: skip
    chat = service.settings.chat.model
    return {
        "index_version": "+".join(indexes.values()),
        "knowledge_bases": list(indexes),
        "golden": {
            "file": evaluation.golden.name,
            "sha256": hashlib.sha256(evaluation.golden.read_bytes()).hexdigest(),
            "split": evaluation.split,
        },
        "versions": {
            "pipeline": PIPELINE_VERSION,
            "embedder": service.corpus.embedder.fingerprint,
            "calibration": service.runner.calibration,
            **({"chat": chat, "prompts": PROMPT_VERSION} if chat else {}),
        },
        "settings": settings,
    }


def _say(done: int, total: int) -> None:
    if done % EVERY == 0 or done == total:
        print(f"{done} of {total} runs", file=sys.stderr, flush=True)


def summary(metrics: dict[str, Any], out: Path) -> list[str]:
    """What a person sees when the run has ended."""
    lines = [f"{metrics['n']} questions, {metrics['errors']} errors; written to {out}"]
    shown = ("correctness", "answered_wrong", "refusal_correctness", "citation_validity", "hit@1")
    lines.append("  " + " " * 20 + "".join(f"{p:>12}" for p in metrics["metrics"]))
    for name in shown:
        values = [found.get(name) for found in metrics["metrics"].values()]
        lines.append(
            f"  {name:20}" + "".join(f"{'-' if v is None else f'{v:.3f}':>12}" for v in values)
        )
    return lines
