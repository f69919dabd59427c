"""Parts of a run that are broken on purpose: what a gate must notice."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from ingest.documents import Candidate
from ingest.sentences import sentence_spans
from nodes.citations import cite
from nodes.context import Context
from nodes.findings import Evidence, Grade, Sentence, Stated, Support
from nodes.ports import Draft, GradedPassages, Sources
from nodes.state import State, Update


class Reversed:
    """A reranker that puts the worst first."""

    def __init__(self, reranker: Any) -> None:
        self._reranker = reranker

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        return list(reversed(await self._reranker.rerank(question, candidates)))


class Open:
    """A grader for which every sentence of every passage answers."""

    async def grade(
        self, question: str, candidates: Sequence[Candidate], **more: Any
    ) -> GradedPassages:
        return GradedPassages([_correct(candidate) for candidate in candidates])


class Shut:
    """A grader for which no passage answers."""

    async def grade(
        self, question: str, candidates: Sequence[Candidate], **more: Any
    ) -> GradedPassages:
        return GradedPassages([Grade("incorrect", 0.0) for _ in candidates])


def _correct(candidate: Candidate) -> Grade:
    spans = sentence_spans(candidate.chunk.text)
    return Grade("correct", 0.99, stated=[Stated(start, end, 0.99) for start, end in spans])


async def nearest(state: State, runtime: Runtime[Context], **ports: Any) -> Update:
    """In the place of `decline`: the first sentence of the best candidate is the answer."""
    best = state.candidates[0]
    start, end = next(iter(sentence_spans(best.chunk.text)))
    told = Sentence(best.chunk.text[start:end], [cite(best, start, end, 1)])
    return {"draft": [told], "outcome": "answered", "summary": {}}


class Shifted:
    """A generator whose citations point one code point beside the words they quote."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    async def generate(self, question: str, evidence: Sequence[Evidence], **more: Any) -> Draft:
        draft: Draft = await self._generator.generate(question, evidence, **more)
        return Draft([self._wrong(sentence) for sentence in draft.sentences])

    def _wrong(self, sentence: Sentence) -> Sentence:
        moved = [replace(c, start=c.start + 1, end=c.end + 1) for c in sentence.citations]
        return replace(sentence, citations=moved)


class Elsewhere:
    """A generator that cites what it told of the question before, as it stands there."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self._before: list[Any] = []

    async def generate(self, question: str, evidence: Sequence[Evidence], **more: Any) -> Draft:
        draft: Draft = await self._generator.generate(question, evidence, **more)
        before, self._before = self._before, [c for s in draft.sentences for c in s.citations][:1]
        if not before:
            return draft
        return Draft([replace(sentence, citations=before) for sentence in draft.sentences])


class Blind:
    """A check of citations that finds nothing wrong."""

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        return [Support(sentence.text, "supported", 1.0) for sentence in sentences]


class Stale:
    """An index whose passages of the policies have the figures of an earlier version; the stored
    texts, which citations point into, are those of today."""

    def __init__(self, index: Any) -> None:
        self._index = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def search(self, *what: Any, **more: Any) -> list[Candidate]:
        return [_earlier(found) for found in await self._index.search(*what, **more)]


def _earlier(candidate: Candidate) -> Candidate:
    if not candidate.chunk.metadata["source"].startswith("policies/"):
        return candidate
    text = re.sub(r"\d", lambda digit: str((int(digit.group()) + 1) % 10), candidate.chunk.text)
    return replace(candidate, chunk=replace(candidate.chunk, text=text))


class Down:
    """An index that does not answer one question."""

    def __init__(self, index: Any, question: str) -> None:
        self._index = index
        self._question = question

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    async def search(self, scope: Any, base: str, question: str, *rest: Any, **more: Any) -> Any:
        if question == self._question:
            raise OSError("the disk is gone")
        return await self._index.search(scope, base, question, *rest, **more)
