"""A chat model orders the best candidates: each scored alone, or all of them in one list."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from graph.adapters.chat_grading import shown
from graph.adapters.chat_model import ChatModel, NoVerdict
from ingest.documents import Candidate
from ingest.errors import ServiceError
from nodes import prompts
from nodes.budget import BudgetSpent, meter
from nodes.ports import Reranker

SCALE = 10
"""Points of the best score."""

SHORT_REPLY = 80
"""Tokens of a score or of a list of numbers."""

SHARE = 2
"""At most one in so many of the run's chat calls that are left go into one order: grading and the
answer need theirs."""


class ChatReranker:
    """Orders the first `depth` candidates of another reranker's order; the rest stay behind.

    Pointwise, a score of 0 to 10 for each, side by side, or with `logprob` the probability of yes
    as the first token. Listwise, one call for an order of all (RankGPT: Sun et al., "Is ChatGPT
    Good at Search?", EMNLP 2023). `chat` is in [0, 1], `rerank` for ordering only. A candidate
    without a verdict keeps its place between those above and below the middle, and has the score
    `no_verdict`. Raises ServiceError where no verdict came at all.
    """

    def __init__(
        self, before: Reranker, chat: ChatModel, *, listwise: bool, logprob: bool, depth: int
    ) -> None:
        self._before = before
        self._chat = chat
        self._listwise = listwise
        self._logprob = logprob
        self._depth = depth

    async def rerank(self, question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
        ordered = await self._before.rerank(question, candidates)
        read = ordered[: self._depth]
        if not self._listwise:
            read = read[: meter().calls_left // SHARE]
        if not ordered:
            return []
        if not read:
            raise BudgetSpent("too few chat calls are left to order candidates by")
        judge = self._one_list if self._listwise else self._one_by_one
        verdicts = await judge(question, read)
        if all(verdict is None for verdict in verdicts):
            raise NoVerdict("the chat model put no candidate in an order")
        first = sorted(
            (_judged(c, verdict) for c, verdict in zip(read, verdicts, strict=True)),
            key=lambda c: -c.scores["rerank"],
        )
        return first + [_behind(c) for c in ordered[len(read) :]]

    async def _one_by_one(self, question: str, read: Sequence[Candidate]) -> Sequence[float | None]:
        """Raises the first error where every call failed."""
        found = await asyncio.gather(*(self._score(question, c) for c in read))
        errors = [one for one in found if isinstance(one, ServiceError)]
        if len(errors) == len(found):
            raise errors[0]
        return [None if isinstance(one, ServiceError) else one for one in found]

    async def _score(self, question: str, candidate: Candidate) -> float | ServiceError:
        try:
            if self._logprob:
                return await self._chat.yes(prompts.passage_answers(question, shown(candidate)))
            reply = await self._chat.structured(
                prompts.passage_score(question, shown(candidate)),
                prompts.Relevance,
                max_tokens=SHORT_REPLY,
            )
        except ServiceError as error:
            return error
        if not 0 <= reply.score <= SCALE:
            return NoVerdict(f"the chat model's score is not within 0 and {SCALE}")
        return reply.score / SCALE

    async def _one_list(self, question: str, read: Sequence[Candidate]) -> Sequence[float | None]:
        """By their places, from 1 for the first down to above 0 for the last; None for one that
        the list leaves out."""
        reply = await self._chat.structured(
            prompts.passages_ranked(question, [shown(c) for c in read]),
            prompts.Ranking,
            max_tokens=SHORT_REPLY,
        )
        named = [n for n in dict.fromkeys(reply.ranking) if 1 <= n <= len(read)]
        places = {n: 1 - place / len(read) for place, n in enumerate(named)}
        return [places.get(n) for n in range(1, len(read) + 1)]


def _judged(candidate: Candidate, verdict: float | None) -> Candidate:
    """In [.5, 1]: what was not read is below."""
    own = {"no_verdict": 1.0} if verdict is None else {"chat": verdict}
    order = (1 + (0.5 if verdict is None else verdict)) / 2
    return replace(candidate, scores={**candidate.scores, **own, "rerank": order})


def _behind(candidate: Candidate) -> Candidate:
    before = candidate.scores.get("rerank", candidate.scores.get("fused", 0.0))
    return replace(candidate, scores={**candidate.scores, "rerank": before / 2})
