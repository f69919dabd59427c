"""Grades by cascade: the calibrated scorer decides the clear ends, a chat model the middle."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from graph.adapters.chat_model import ChatModel
from ingest.documents import Candidate
from ingest.errors import ServiceError
from nodes import prompts
from nodes.ports import GradedPassages, Grader
from nodes.state import Grade, Verdict

SURE_NO = 0.25
"""Log-prob mode: below it a passage is incorrect, from SURE_YES correct, between them ambiguous."""
SURE_YES = 0.5

SHORT_REPLY = 60
"""Tokens of a list of numbers."""


class ChatGrader:
    """`sure` is the scorer's probability from which a passage is correct without being asked for.

    Below the scorer's own `lower` it is incorrect. A passage whose verdict the model does not give
    (bad JSON, a refusal, cut off) has no verdict; where no call works, the scorer's verdicts stand
    and `degraded` says so.
    """

    def __init__(self, scorer: Grader, chat: ChatModel, *, sure: float, batched: bool) -> None:
        self._scorer = scorer
        self._chat = chat
        self._sure = sure
        self._batched = batched

    async def grade(
        self,
        question: str,
        candidates: Sequence[Candidate],
        *,
        among: Sequence[Candidate],
        upper: float | None,
        lower: float | None,
    ) -> GradedPassages:
        scored = await self._scorer.grade(
            question, candidates, among=among, upper=upper, lower=lower
        )
        middle = [i for i, grade in enumerate(scored.grades) if self._asks(grade)]
        if not middle:
            return scored
        try:
            asked = [candidates[i] for i in middle]
            judge = self._in_one_call if self._batched else self._one_by_one
            verdicts = await judge(question, asked)
        except ServiceError as error:
            note = f"graded without the chat model: {error.message}"
            return replace(scored, degraded="; ".join(filter(None, [scored.degraded, note])))
        grades: list[Grade | None] = list(scored.grades)
        for i, verdict in zip(middle, verdicts, strict=True):
            grades[i] = None if verdict is None else _graded(scored.grades[i], verdict)
        return GradedPassages(grades)

    def _asks(self, grade: Grade | None) -> bool:
        if grade is None or grade.probability is None:
            return True
        return grade.verdict != "incorrect" and grade.probability < self._sure

    async def _in_one_call(self, question: str, asked: Sequence[Candidate]) -> list[float | None]:
        reply = await self._chat.structured(
            prompts.passages_answer(question, [shown(c) for c in asked]),
            prompts.Answering,
            max_tokens=SHORT_REPLY,
        )
        return [float(n in reply.answering) for n in range(1, len(asked) + 1)]

    async def _one_by_one(self, question: str, asked: Sequence[Candidate]) -> list[float | None]:
        """Side by side. Raises the first error where not one call gave a verdict."""
        calls = [self._chat.yes(prompts.passage_answers(question, shown(c))) for c in asked]
        found = await asyncio.gather(*calls, return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, ServiceError):
                raise one
        errors = [one for one in found if isinstance(one, ServiceError)]
        if len(errors) == len(found):
            raise errors[0]
        return [None if isinstance(one, BaseException) else one for one in found]


def _graded(scored: Grade | None, yes: float) -> Grade:
    verdict: Verdict = "ambiguous"
    if yes >= SURE_YES:
        verdict = "correct"
    elif yes < SURE_NO:
        verdict = "incorrect"
    signs = scored.signs if scored is not None else {}
    stated = scored.stated if scored is not None else None
    return Grade(verdict, yes, {**signs, "chat": round(yes, 4)}, stated)


def shown(candidate: Candidate) -> str:
    """A passage as a prompt shows it, with where it stands and whether it is current."""
    chunk = candidate.chunk
    place = " > ".join(part for part in (chunk.title, chunk.heading) if part)
    status = chunk.metadata.get("status", "current")
    mark = "" if status == "current" else f" ({status}, not current)"
    return f"[{place}{mark}] {chunk.text}"
