"""Answers in the documents' own words: the sentences that state what was asked, verbatim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graph.adapters.answer_scorer import AnswerScorer, ScoredPassage
from graph.adapters.sentence_signs import SentenceSigns
from ingest.documents import Candidate, quote_sha256
from nodes.ports import Draft
from nodes.state import Citation, Evidence, Sentence
from nodes.words import content_words

CLOSE = 1.2
"""Log odds below the best sentence at which another one is still told: odds of about 1 to 3."""

SAME = 0.8
"""Share of common content words from which two sentences say the same."""


@dataclass(frozen=True)
class Told:
    candidate: Candidate
    sentence: SentenceSigns
    log_odds: float


class ExtractiveGenerator:
    """At most `limit` sentences that hold the expected kind of answer, each with its citation.

    A sentence below its model's `partial` bar is not told, even where nothing else is there. One
    of a document that is not current says so in its note.
    """

    def __init__(self, scorer: AnswerScorer) -> None:
        self._scorer = scorer

    async def generate(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        limit: int,
        rejected: Sequence[str],
    ) -> Draft:
        scoring = await self._scorer.score(question, [e.candidate for e in evidence])
        tellable = [
            told
            for passage in scoring.passages
            for told in _tellable(passage)
            if told.sentence.text not in rejected
        ]
        chosen = choose(tellable, limit)
        return Draft([_cited(n, told) for n, told in enumerate(chosen, start=1)])


def choose(tellable: Sequence[Told], limit: int) -> list[Told]:
    """The best sentence, and those close to it that do not repeat it, best first."""
    ranked = sorted(
        tellable, key=lambda t: (-t.log_odds, t.candidate.chunk.chunk_id, t.sentence.start)
    )
    chosen: list[Told] = []
    for one in ranked:
        if len(chosen) == limit or one.log_odds < ranked[0].log_odds - CLOSE:
            break
        if not any(_same(one.sentence.text, other.sentence.text) for other in chosen):
            chosen.append(one)
    return chosen


def _tellable(passage: ScoredPassage) -> list[Told]:
    bar = passage.model.partial if passage.model else 1.0
    return [
        Told(passage.candidate, scored.sentence, _log_odds(scored.probability))
        for scored in passage.sentences
        if scored.probability is not None and scored.probability >= bar
    ]


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))


def _same(one: str, other: str) -> bool:
    a, b = set(content_words(one)), set(content_words(other))
    return len(a & b) >= SAME * max(1, min(len(a), len(b)))


def _cited(n: int, told: Told) -> Sentence:
    chunk = told.candidate.chunk
    quote = told.sentence.text
    citation = Citation(
        n=n,
        kind="web" if told.candidate.url else "document",
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        revision=chunk.revision,
        title=chunk.title,
        page=chunk.page,
        heading=chunk.heading,
        start=chunk.start + told.sentence.start,
        end=chunk.start + told.sentence.end,
        quote=quote,
        quote_sha256=quote_sha256(quote),
        url=told.candidate.url,
    )
    return Sentence(quote, [citation], _note(told.candidate))


def _note(candidate: Candidate) -> str:
    status = candidate.chunk.metadata.get("status", "current")
    version = candidate.chunk.metadata.get("version")
    named = f"{candidate.chunk.title}, version {version}" if version else candidate.chunk.title
    if status == "superseded":
        return f"no longer current, from {named}"
    return f"draft, from {named}" if status == "draft" else ""
