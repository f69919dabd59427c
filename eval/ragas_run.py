"""The figures of ragas over a run: `make ragas RUN=DIR`, beside the gate and never part of it.

Runs in an environment of its own (constraints-ragas.txt says why) as `python -m eval.ragas_run
DIR`, so it imports nothing of the service: it reads DIR/records.jsonl as plain JSON and writes
ragas.json and ragas.md beside it. A language model judges, so the figures move with the model.

Exits 0 whatever the figures, 2 for configuration.
"""

import argparse
import asyncio
import json
import logging
import math
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METRICS = ("faithfulness", "context_precision", "context_recall", "answer_relevancy")
OF_THE_ANSWER = ("faithfulness", "answer_relevancy")
LOWEST = {"answer_relevancy": -1.0}
"""A cosine; the others are shares."""
ROUNDING = 1e-6
AT_ONCE = 4
TIMEOUT_S = 60.0
JUDGE_TOKENS = 4096
"""Of one judgement: it repeats the statements it judges, and a reasoning model thinks first."""
NO_EMBEDDING = "no embedding model; --embedding NAME takes one of the endpoint's /embeddings"

Row = dict[str, Any]
Scorer = Callable[["Sample"], Awaitable[float]]


class Misconfigured(Exception):
    """Exit code 2."""


@dataclass(frozen=True)
class Sample:
    """What ragas is shown of one record. `error`: why the run itself left nothing to judge."""

    pipeline: str
    id: str
    question: str
    conversation: str
    """The question after the turns before it: what it asks is not always in it."""
    answer: str
    passages: tuple[str, ...]
    reference: str
    answered: bool
    error: str = ""

    def asks_for(self, metric: str) -> bool:
        """A refusal has no answer to judge, and without a reference nothing says what to find."""
        if metric in OF_THE_ANSWER:
            return self.answered or bool(self.error)
        return bool(self.reference)


@dataclass(frozen=True)
class Score:
    """Either `value` or, where there is none, `failed`."""

    pipeline: str
    id: str
    metric: str
    value: float | None
    failed: str = ""


@dataclass(frozen=True)
class Judge:
    """The model as CRAG_CHAT__* names it."""

    model: str
    base_url: str | None
    api_key: str


def sample_of(row: Row) -> Sample:
    golden, ran = row["golden"], row.get("ran") or {}
    turns = [said for turn in golden.get("history") or [] for said in _exchange(turn)]
    # Told sentence by sentence: without the marks of the citations, which ragas takes for claims.
    told = " ".join(sentence["text"] for sentence in ran.get("sentences") or [])
    return Sample(
        pipeline=row["pipeline"],
        id=golden["id"],
        question=golden["question"],
        conversation="\n".join([*turns, golden["question"]]),
        answer=told or ran.get("answer") or "",
        passages=tuple(ran.get("passages") or []),
        reference=(golden.get("answer") or "") if golden["answerable"] else "",
        answered=ran.get("outcome") == "answered",
        error=row.get("error") or ("" if ran else "the record has no run"),
    )


def _exchange(turn: Row) -> tuple[str, str]:
    return turn["question"], turn["answer"]


def read_samples(folder: Path, limit: int | None = None) -> list[Sample]:
    """The first `limit` questions of each pipeline."""
    file = folder / "records.jsonl"
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise Misconfigured(f"{file}: {why}; `crag eval run` writes it") from None
    samples: list[Sample] = []
    taken: Counter[str] = Counter()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            sample = sample_of(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Misconfigured(f"{file}:{number}: no record of `crag eval run`") from None
        if limit is None or taken[sample.pipeline] < limit:
            taken[sample.pipeline] += 1
            samples.append(sample)
    if not samples:
        raise Misconfigured(f"{file}: no records; `crag eval run` writes it")
    return samples


def judge_of(environment: Row) -> Judge:
    named = environment.get("CRAG_CHAT__MODEL") or ""
    provider, colon, model = named.partition(":")
    if not named:
        raise Misconfigured("CRAG_CHAT__MODEL is not set: ragas needs a chat model that judges")
    if colon and (provider != "openai" or not model):
        raise Misconfigured(
            f"CRAG_CHAT__MODEL={named}: ragas asks over OpenAI's protocol; write openai:NAME, and "
            "CRAG_CHAT__BASE_URL for a server of your own"
        )
    base_url = environment.get("CRAG_CHAT__BASE_URL") or None
    key = environment.get("CRAG_CHAT__API_KEY") or environment.get("OPENAI_API_KEY") or ""
    if not key and base_url is None:
        raise Misconfigured("neither CRAG_CHAT__API_KEY nor CRAG_CHAT__BASE_URL is set")
    return Judge(model or named, base_url, key or "none")


async def score(samples: Sequence[Sample], scorers: dict[str, Scorer]) -> list[Score]:
    """In the order of the samples. What cannot be scored is a failed score, never left out."""
    free = asyncio.Semaphore(AT_ONCE)

    async def one(sample: Sample, metric: str) -> Score:
        async with free:
            value, failed = await _scored(sample, metric, scorers[metric])
        return Score(sample.pipeline, sample.id, metric, value, failed)

    wanted = [(s, metric) for s in samples for metric in scorers if s.asks_for(metric)]
    return await asyncio.gather(*(one(sample, metric) for sample, metric in wanted))


async def _scored(sample: Sample, metric: str, scorer: Scorer) -> tuple[float | None, str]:
    if sample.error:
        return None, _line(f"the run failed: {sample.error}")
    if not sample.passages and metric != "answer_relevancy":
        return None, "no passage to judge"
    try:
        value = await scorer(sample)
    except Exception as error:
        return None, _line(f"{type(error).__name__}: {_cause(error)}")
    if not math.isfinite(value):
        return None, "not a number"
    if not LOWEST.get(metric, 0.0) - ROUNDING <= value <= 1 + ROUNDING:
        return None, f"{value:g} is out of range"
    return value, ""


def _cause(error: BaseException) -> BaseException:
    """The first error of a chain: retries wrap it in a page of text."""
    while (earlier := error.__cause__) is not None:
        error = earlier
    return error


def _line(text: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[:200]


def summarise(samples: Sequence[Sample], scores: Sequence[Score], skipped: Row) -> Row:
    """For each pipeline and metric: mean of the n that have a score, failed, and not applicable."""
    figures: Row = {}
    for pipeline in dict.fromkeys(sample.pipeline for sample in samples):
        total = sum(sample.pipeline == pipeline for sample in samples)
        figures[pipeline] = {}
        for metric in METRICS:
            if metric in skipped:
                continue
            of = [s for s in scores if s.pipeline == pipeline and s.metric == metric]
            values = [s.value for s in of if s.value is not None]
            figures[pipeline][metric] = {
                "mean": math.fsum(values) / len(values) if values else None,
                "n": len(values),
                "failed": len(of) - len(values),
                "not_applicable": total - len(of),
            }
    return figures


def report(samples: Sequence[Sample], scores: Sequence[Score], used: Row, skipped: Row) -> Row:
    return {
        "advisory": True,
        "used": used,
        "skipped": skipped,
        "questions": len({sample.id for sample in samples}),
        "metrics": summarise(samples, scores, skipped),
        "scores": [
            {"pipeline": s.pipeline, "id": s.id, "metric": s.metric, "value": s.value}
            | ({"failed": s.failed} if s.failed else {})
            for s in scores
        ],
    }


def markdown(found: Row) -> str:
    used = ", ".join(f"{name} {value}" for name, value in found["used"].items() if value)
    lines = [
        "# ragas",
        "",
        "Advisory: a chat model judged, and nothing is gated on it. "
        f"{found['questions']} questions; {used}.",
        "",
        "| pipeline | metric | mean | n | failed | not applicable |",
        "|---|---|---|---|---|---|",
    ]
    for pipeline, metrics in found["metrics"].items():
        for metric, figures in metrics.items():
            mean = "–" if figures["mean"] is None else f"{figures['mean']:.3f}"
            counts = f"{figures['n']} | {figures['failed']} | {figures['not_applicable']}"
            lines.append(f"| {pipeline} | {metric} | {mean} | {counts} |")
    lines += ["", "A mean is that of the n with a score; a failed one is in no mean."]
    lines += [f"Skipped: {metric} ({why})." for metric, why in found["skipped"].items()]
    failures = Counter(s["failed"] for s in found["scores"] if "failed" in s)
    if failures:
        lines += ["", "Why they failed:", ""]
        lines += [f"- {times} × {why}" for why, times in failures.most_common(10)]
    return "\n".join(lines) + "\n"


def ragas_scorers(judge: Judge, embedding: str | None) -> dict[str, Scorer]:
    """Raises Misconfigured where ragas is not installed."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # read when ragas is imported
    try:
        from openai import AsyncOpenAI
        from ragas.embeddings import OpenAIEmbeddings
        from ragas.llms import llm_factory
        from ragas.metrics.collections import (
            AnswerRelevancy,
            ContextPrecisionWithReference,
            ContextRecall,
            Faithfulness,
        )
    except ImportError as error:
        raise Misconfigured(f"{error}; `make ragas` runs this in its own environment") from None
    logging.getLogger("instructor").setLevel(logging.CRITICAL)  # what fails is in the report
    client = AsyncOpenAI(
        base_url=judge.base_url, api_key=judge.api_key, timeout=TIMEOUT_S, max_retries=1
    )
    llm = llm_factory(judge.model, client=client, max_tokens=JUDGE_TOKENS)
    faithful, recalled = Faithfulness(llm=llm), ContextRecall(llm=llm)
    precise = ContextPrecisionWithReference(llm=llm)

    async def faithfulness(s: Sample) -> float:
        found = await faithful.ascore(
            user_input=s.conversation, response=s.answer, retrieved_contexts=list(s.passages)
        )
        return float(found.value)

    async def context_precision(s: Sample) -> float:
        found = await precise.ascore(
            user_input=s.conversation, reference=s.reference, retrieved_contexts=list(s.passages)
        )
        return float(found.value)

    async def context_recall(s: Sample) -> float:
        found = await recalled.ascore(
            user_input=s.conversation, reference=s.reference, retrieved_contexts=list(s.passages)
        )
        return float(found.value)

    scorers: dict[str, Scorer] = {
        "faithfulness": faithfulness,
        "context_precision": context_precision,
        "context_recall": context_recall,
    }
    if embedding is not None:
        relevant = AnswerRelevancy(
            llm=llm, embeddings=OpenAIEmbeddings(client=client, model=embedding)
        )

        async def answer_relevancy(s: Sample) -> float:
            found = await relevant.ascore(user_input=s.question, response=s.answer)
            return float(found.value)

        scorers["answer_relevancy"] = answer_relevancy
    return scorers


def run(folder: Path, limit: int | None, embedding: str | None) -> str:
    samples = read_samples(folder, limit)
    judge = judge_of(dict(os.environ))
    scorers = ragas_scorers(judge, embedding)
    from importlib.metadata import version

    scores = asyncio.run(score(samples, scorers))
    used = {"ragas": version("ragas"), "judge": judge.model, "embedding": embedding}
    skipped = {} if embedding else {"answer_relevancy": NO_EMBEDDING}
    found = report(samples, scores, used, skipped)
    text = markdown(found)
    try:
        whole = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        (folder / "ragas.json").write_text(whole, encoding="utf-8")
        (folder / "ragas.md").write_text(text, encoding="utf-8")
    except OSError as error:
        raise Misconfigured(f"{folder} cannot be written: {error.strerror}") from None
    return text


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = argparse.ArgumentParser(prog="python -m eval.ragas_run", description=__doc__)
    asked.add_argument("run", type=Path, help="the folder that `crag eval run` wrote")
    asked.add_argument("--limit", type=_at_least_one, help="only the first questions")
    asked.add_argument("--embedding", help="the endpoint's embedding model, for answer relevancy")
    options = asked.parse_args(arguments)
    try:
        print(run(options.run, options.limit, options.embedding or None), end="")
    except Misconfigured as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
