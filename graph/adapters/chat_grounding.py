"""Checks sentences that a chat model wrote against the passages that they cite."""

import asyncio
from collections.abc import Sequence
from itertools import chain

from graph.adapters.chat_grading import SHORT_REPLY
from graph.adapters.chat_model import ChatModel, NoVerdict
from graph.adapters.claim_checker import UNSAID
from graph.adapters.claim_number_rules import missing_numbers
from graph.adapters.claim_source import AROUND
from graph.adapters.grounding import quoted_or_wrong
from ingest.errors import ServiceError
from nodes import prompts
from nodes.findings import Citation, Sentence, Support
from nodes.ports import Sources
from nodes.words import literals

SUPPORTED = 0.5
NONE = "the chat model gave no verdict"


class ChatGroundingChecker:
    """What stands word for word where it is cited is supported; a number or code that no cited
    passage holds is not; a chat model judges the rest, in one round. No verdict is no support.
    Raises what the chat model raises where it judges nothing."""

    def __init__(self, chat: ChatModel, *, batched: bool) -> None:
        self._chat = chat
        self._batched = batched

    async def settled(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support | None]:
        """The verdicts that need no model."""
        return [_without_model(sentence, sources) for sentence in sentences]

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        known = await self.settled(question, sentences, sources)
        open_ones = [s for s, support in zip(sentences, known, strict=True) if support is None]
        judge = self._in_one_call if self._batched else self._one_by_one
        judged = iter(await judge(open_ones, sources) if open_ones else [])
        return [support if support is not None else next(judged) for support in known]

    async def _in_one_call(self, sentences: Sequence[Sentence], sources: Sources) -> list[Support]:
        passages = list(dict.fromkeys(chain.from_iterable(_read(s, sources) for s in sentences)))
        claims = [
            (s.text, [passages.index(text) + 1 for text in _read(s, sources)]) for s in sentences
        ]
        reply = await self._chat.structured(
            prompts.claims_supported(claims, passages), prompts.Supported, max_tokens=SHORT_REPLY
        )
        return [_support(s, float(n in reply.supported)) for n, s in enumerate(sentences, start=1)]

    async def _one_by_one(self, sentences: Sequence[Sentence], sources: Sources) -> list[Support]:
        found = await asyncio.gather(*(self._one(s, sources) for s in sentences))
        errors = [one for one in found if isinstance(one, ServiceError)]
        broken = [one for one in errors if not isinstance(one, NoVerdict)]
        if broken or len(errors) == len(found):
            raise (broken or errors)[0]
        return [_support(s, p) for s, p in zip(sentences, found, strict=True)]

    async def _one(self, sentence: Sentence, sources: Sources) -> float | ServiceError:
        """An error is returned, so that none of the calls goes on alone."""
        try:
            return await self._chat.yes(
                prompts.claim_supported(sentence.text, _read(sentence, sources))
            )
        except ServiceError as error:
            return error


def _without_model(sentence: Sentence, sources: Sources) -> Support | None:
    """The verdict on what needs no judge, or None."""
    known = quoted_or_wrong(sentence, sources)
    if known is not None:
        return known
    read = " ".join(_read(sentence, sources))
    codes = {one for one in literals(sentence.text) if one.casefold() not in read.casefold()}
    missing = sorted(codes | missing_numbers(sentence.text, read))
    if missing:
        said = f"{', '.join(missing[:3])} does not stand in what it cites"
        return Support(sentence.text, "unsupported", 0.0, said)
    return None


def _read(sentence: Sentence, sources: Sources) -> list[str]:
    return list(dict.fromkeys(_around(citation, sources) for citation in sentence.citations))


def _around(citation: Citation, sources: Sources) -> str:
    text = sources.texts[citation.document_id, citation.revision]
    passage = text[max(0, citation.start - AROUND) : citation.end + AROUND]
    place = " > ".join(part for part in (citation.title, citation.heading) if part)
    return f"[{place}] {passage}"


def _support(sentence: Sentence, probability: float | ServiceError) -> Support:
    if isinstance(probability, ServiceError):
        return Support(sentence.text, "unsupported", 0.0, NONE)
    if probability >= SUPPORTED:
        return Support(sentence.text, "supported", probability)
    return Support(sentence.text, "unsupported", probability, UNSAID)
