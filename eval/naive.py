"""The line that everybody builds first: retrieve, then answer. No grading, no loop, no check.

It is measured on the same questions, so that what the correction gains is a figure. It reads the
question alone: a follow-up's history is lost on it, as on any line without a step for it.
"""

import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from eval.records import Ran
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.index import Index
from ingest.ports import Vector
from ingest.scope import Scope
from ingest.sentences import sentence_spans
from nodes.citations import cite
from nodes.findings import Sentence

Embed = Callable[[Sequence[str]], Awaitable[Vector]]

PASSAGES = 5
"""Passages that an answer is written from."""


async def naive(
    index: Index,
    embed: Embed,
    scope: Scope,
    base: str,
    question: str,
    *,
    candidates: int,
    sentences: int,
) -> tuple[Ran, list[Sentence]]:
    """Always answers: the `sentences` of the best passages that are nearest to the question by
    cosine. Without a chat model that is what stands for generation in both pipelines."""
    clock = time.perf_counter()
    found = await index.search(
        scope, base, question, [question], limit=candidates, filters=Filters(), exact=True
    )
    retrieved = time.perf_counter()
    told = await _nearest(embed, question, found[:PASSAGES], sentences)
    ended = time.perf_counter()
    ran = Ran(
        outcome="answered" if told else "refused",
        reason=None if told else "no_evidence",
        answer="\n".join(sentence.text for sentence in told),
        stages={"retrieved": [candidate.chunk.chunk_id for candidate in found]},
        passages=[candidate.chunk.text for candidate in found[:PASSAGES]],
        total_ms=1000 * (ended - clock),
        node_ms={"retrieve": 1000 * (retrieved - clock), "generate": 1000 * (ended - retrieved)},
    )
    return ran, told


async def _nearest(
    embed: Embed, question: str, passages: Sequence[Candidate], limit: int
) -> list[Sentence]:
    spans = [
        (candidate, start, end)
        for candidate in passages
        for start, end in sentence_spans(candidate.chunk.text)
    ]
    if not spans:
        return []
    texts = [candidate.chunk.text[start:end] for candidate, start, end in spans]
    vectors = await embed([question, *texts])
    nearness = vectors[1:] @ vectors[0]
    chosen: dict[str, Sentence] = {}
    for i in np.argsort(-nearness, kind="stable"):
        if len(chosen) == limit:
            break
        if texts[i] not in chosen:
            candidate, start, end = spans[i]
            citation = cite(candidate, start, end, len(chosen) + 1)
            chosen[texts[i]] = Sentence(texts[i], [citation])
    return list(chosen.values())
