"""Answers in the documents' own words: the sentences that state what was asked, verbatim."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graph.adapters.calibration import Calibration
from graph.adapters.question_signs import AskedQuestion, read_question
from graph.adapters.sentence_signs import SentenceSigns, sentence_signs
from graph.adapters.token_vectors import TokenVectors
from ingest.documents import Candidate, quote_sha256
from nodes.ports import Draft
from nodes.state import Citation, Evidence, Sentence
from nodes.words import content_words

CLOSE = 1.2
"""Log odds below the best sentence at which another one is still told: odds of about 1 to 3."""

SAME = 0.8
"""Share of common content words from which two sentences say the same."""


@dataclass(frozen=True)
class Scored:
    candidate: Candidate
    sentence: SentenceSigns
    score: float


class ExtractiveGenerator:
    """At most `limit` sentences that hold the expected kind of answer, each with its citation.

    A sentence of a document that is not current says so in its note.
    """

    def __init__(self, vectors: TokenVectors, calibration: Calibration) -> None:
        self._vectors = vectors
        self._calibration = calibration

    async def generate(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        limit: int,
        rejected: Sequence[str],
    ) -> Draft:
        candidates = [e.candidate for e in evidence]
        asked = read_question(question, await self._vectors.question(question))
        vectors = await self._vectors.passages([c.chunk for c in candidates])
        scored = await asyncio.to_thread(
            lambda: [
                Scored(candidate, sentence, self._score(sentence))
                for candidate, passage in zip(candidates, vectors, strict=True)
                for sentence in sentence_signs(asked, candidate.chunk, passage)
                if eligible(asked, sentence) and sentence.text not in rejected
            ]
        )
        chosen = choose(scored, limit)
        return Draft([_cited(n, one) for n, one in enumerate(chosen, start=1)])

    def _score(self, sentence: SentenceSigns) -> float:
        return self._calibration.sentence.log_odds(sentence.signs)


def eligible(question: AskedQuestion, sentence: SentenceSigns) -> bool:
    """It holds the expected kind of answer, asks nothing itself and says more than the question."""
    return (
        sentence.holds
        and not sentence.text.rstrip().endswith("?")
        and sentence.signs["new_words"] > 0
    )


def choose(scored: Sequence[Scored], limit: int) -> list[Scored]:
    """The best sentence, and those close to it that do not repeat it, best first."""
    ranked = sorted(scored, key=lambda s: (-s.score, s.candidate.chunk.chunk_id, s.sentence.start))
    chosen: list[Scored] = []
    for one in ranked:
        if len(chosen) == limit or one.score < ranked[0].score - CLOSE:
            break
        if not any(_same(one.sentence.text, other.sentence.text) for other in chosen):
            chosen.append(one)
    return chosen


def _same(one: str, other: str) -> bool:
    a, b = set(content_words(one)), set(content_words(other))
    return len(a & b) >= SAME * max(1, min(len(a), len(b)))


def _cited(n: int, one: Scored) -> Sentence:
    chunk = one.candidate.chunk
    quote = one.sentence.text
    citation = Citation(
        n=n,
        kind="web" if one.candidate.url else "document",
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        revision=chunk.revision,
        title=chunk.title,
        page=chunk.page,
        heading=chunk.heading,
        start=chunk.start + one.sentence.start,
        end=chunk.start + one.sentence.end,
        quote=quote,
        quote_sha256=quote_sha256(quote),
        url=one.candidate.url,
    )
    return Sentence(quote, [citation], _note(one.candidate))


def _note(candidate: Candidate) -> str:
    status = candidate.chunk.metadata.get("status", "current")
    version = candidate.chunk.metadata.get("version")
    named = f"{candidate.chunk.title}, version {version}" if version else candidate.chunk.title
    if status == "superseded":
        return f"no longer current, from {named}"
    return f"draft, from {named}" if status == "draft" else ""
