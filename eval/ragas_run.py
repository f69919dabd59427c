"""The figures of ragas over a run: `make ragas RUN=DIR`, beside the gate and never part of it.

Runs in an environment of its own (constraints-ragas.txt says why) as `python -m eval.ragas_run
DIR`, so neither it nor eval.ragas_report imports anything of the service: it reads
DIR/records.jsonl as plain JSON and writes ragas.json and ragas.md beside it. A language model
judges, so the figures move with the model.

Exits 0 whatever the figures, 2 for configuration.
"""

import argparse
import asyncio
import json
import logging
import math
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.ragas_report import (
    LOWEST,
    ROUNDING,
    Misconfigured,
    Row,
    Sample,
    Score,
    markdown,
    read_samples,
    report,
)

AT_ONCE = 4
TIMEOUT_S = 60.0
JUDGE_TOKENS = 4096
"""Of one judgement: it repeats the statements it judges, and a reasoning model thinks first."""
NO_EMBEDDING = "no embedding model; --embedding NAME takes one of the endpoint's /embeddings"

Scorer = Callable[["Sample"], Awaitable[float]]


@dataclass(frozen=True)
class Judge:
    """The model as CRAG_CHAT__* names it."""

    model: str
    base_url: str | None
    api_key: str


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
