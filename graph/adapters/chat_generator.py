"""Answers in a chat model's words, each sentence with the passages that it cites."""

import re
from collections.abc import Sequence
from dataclasses import replace

from graph.adapters.chat_grading import shown
from graph.adapters.chat_model import ChatModel, estimated
from ingest.documents import Candidate
from ingest.errors import ServiceError
from ingest.sentences import sentence_spans
from nodes import prompts
from nodes.citations import cite, renumbered
from nodes.findings import Citation, Evidence, Rejected, Sentence
from nodes.notes import named, status_note
from nodes.ports import Draft, Generator
from nodes.words import content_words

CITED = re.compile(r"\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
ATTRIBUTED = 0.5
"""Share of a sentence's words that a passage must hold to be cited for it."""

RESERVED = 900
"""Tokens of the prompt around the passages: instructions, example and question."""


class ChatGenerator:
    """Passages go before the question, best first; what exceeds `context_tokens` is left out, the
    last ranked first, and the draft says so. `fallback` writes where the model fails; without one
    the error passes.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        context_tokens: int,
        answer_tokens: int,
        fallback: Generator | None,
    ) -> None:
        self._chat = chat
        self._context_tokens = context_tokens
        self._answer_tokens = answer_tokens
        self._fallback = fallback

    async def generate(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        limit: int,
        rejected: Sequence[Rejected],
        kept: Sequence[Sentence],
    ) -> Draft:
        if not evidence:
            return Draft([])
        read = _in_order(self._fitting(evidence))
        left_out = len(evidence) - len(read)
        note = f"{left_out} passages did not fit into the prompt" if left_out else ""
        try:
            reply = await self._chat.text(
                prompts.answer(
                    question, [_shown(e) for e in read], rejected, [s.text for s in kept]
                ),
                max_tokens=self._answer_tokens,
            )
        except ServiceError as error:
            if self._fallback is None:
                raise
            draft = await self._fallback.generate(
                question, evidence, limit=limit, rejected=rejected, kept=kept
            )
            said = f"answered without the chat model: {error.message}"
            return Draft(draft.sentences, said, kind=error.code)
        wrong = {one.sentence for one in rejected}
        written = sentences_of(question, reply, [e.candidate for e in read])
        told = [s for s in written if s.text not in wrong]
        return Draft(told[: max(limit, 4) - len(kept)], note)

    def _fitting(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        room = self._context_tokens - RESERVED - self._answer_tokens
        kept: list[Evidence] = []
        for one in evidence:
            room -= estimated(_shown(one)) + 8
            if room < 0 and kept:
                break
            kept.append(one)
        return kept


def _in_order(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Passages of one document as they stand in it, the document of the best passage first; whole
    passages as they are ranked."""
    if all(one.strips is None for one in evidence):
        return list(evidence)
    ranks: dict[str, int] = {}
    for one in evidence:
        ranks.setdefault(one.candidate.chunk.document_id, len(ranks))
    chunks = [(one.candidate.chunk, one) for one in evidence]
    chunks.sort(key=lambda pair: (ranks[pair[0].document_id], pair[0].start))
    return [one for _, one in chunks]


def _shown(evidence: Evidence) -> str:
    """What is read of a passage, under its source with version and date, and its heading."""
    chunk = evidence.candidate.chunk
    spans = [(0, len(chunk.text))]
    if evidence.strips is not None:
        spans = [(strip.start, strip.end) for strip in evidence.strips]
    text = " … ".join(chunk.text[start:end] for start, end in spans)
    return shown(
        replace(
            evidence.candidate, chunk=replace(chunk, text=text, title=named(evidence.candidate))
        )
    )


def sentences_of(question: str, reply: str, passages: Sequence[Candidate]) -> list[Sentence]:
    """The sentences of a reply with their citations; none where it says that there is no answer.

    Each citation points at the sentence of its passage that says most of it. A number that names no
    passage is no citation. Where a sentence has none, the passage that holds most of its words is
    cited, as attributed: small models forget the number, and the check reads the passage anyway.
    """
    if prompts.NO_ANSWER.casefold() in reply.casefold():
        return []
    found: list[Sentence] = []
    for text, numbers in _cited_parts(reply):
        named = [n for n in numbers if 1 <= n <= len(passages)]
        known = named or _nearest(text, passages)
        citations: list[Citation] = []
        for n in known:
            start, end = _best_span(text, passages[n - 1].chunk.text)
            cited = cite(passages[n - 1], start, end, n)
            citations.append(replace(cited, attributed=not named))
        notes = [status_note(passages[n - 1], question) for n in known]
        # Said here and not left to the model: nothing current states it.
        found.append(Sentence(text, citations, notes[0] if notes and all(notes) else ""))
    return renumbered(found)


def _cited_parts(reply: str) -> list[tuple[str, list[int]]]:
    """Each text that ends with citations, and what stands after the last of them."""
    parts: list[tuple[str, list[int]]] = []
    for line in reply.splitlines():
        start = 0
        for group in re.finditer(rf"(?:{CITED.pattern})+[.!?]?", line):
            text = line[start : group.start()].strip(" \t-*•")
            numbers = [int(n) for n in re.findall(r"\d+", group.group())]
            if text:
                parts.append((text, list(dict.fromkeys(numbers))))
            start = group.end()
        rest = line[start:].strip(" \t-*•")
        if re.search(r"\w", rest):
            parts.append((rest, []))
    return parts


def _nearest(text: str, passages: Sequence[Candidate]) -> list[int]:
    """The number of the passage with most of the words, if that is the better part of them."""
    words = _meaning(text)
    shares = [len(words & _meaning(shown(p))) / max(1, len(words)) for p in passages]
    best = max(range(len(shares)), key=shares.__getitem__, default=None)
    return [best + 1] if best is not None and shares[best] >= ATTRIBUTED else []


def _meaning(text: str) -> set[str]:
    return {*content_words(text), *re.findall(r"\d+", text)}


def _best_span(text: str, passage: str) -> tuple[int, int]:
    words = _meaning(text)

    def shared(span: tuple[int, int]) -> float:
        theirs = _meaning(passage[span[0] : span[1]])
        return len(words & theirs) - 0.01 * len(theirs)

    return max(sentence_spans(passage), key=shared, default=(0, len(passage)))
