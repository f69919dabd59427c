"""Grades by cascade: the calibrated scorer decides the clear ends, a chat model the middle."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from graph.adapters.chat_model import ChatModel, NoVerdict
from ingest.documents import Candidate
from ingest.errors import ServiceError
from ingest.loaders.normalise import one_line, printable
from nodes import prompts
from nodes.findings import Grade, Verdict
from nodes.ports import GradedPassages, Grader
from nodes.safe_sentences import dictated

SURE_NO = 0.25
"""Log-prob mode: below it a passage is incorrect, from SURE_YES correct, between them ambiguous."""
SURE_YES = 0.5

SHORT_REPLY = 100
"""Tokens of a list of numbers and a query."""

LONGEST = 200
"""Code points of a proposed query; a longer one is none."""

Judged = float | ServiceError | None
"""The probability of yes, why there was no call, or None for no verdict."""

Verdicts = tuple[Sequence[Judged], str]
"""Of each passage, and the query that is proposed where none answers, or nothing."""


class ChatGrader:
    """`sure` is the scorer's probability from which a passage is correct without being asked for.

    Below the scorer's own `lower` it is incorrect; a scorer that is not calibrated is sure of
    none. A passage whose verdict the model does not give (bad JSON, a refusal, cut off) has no
    verdict; where a call does not work, or none does, the scorer's verdicts stand and `degraded`
    says so. `upper` and `lower` that were asked for hold for the model's probabilities too, where
    they are stricter than its own.
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
        trusted = not scored.degraded
        middle = [
            i for i, grade in enumerate(scored.grades) if not (trusted and self._sure_of(grade))
        ]
        if not middle:
            return scored
        asked = [candidates[i] for i in middle]
        judge = self._in_one_call if self._batched else self._one_by_one
        found: Verdicts
        try:
            found = await judge(question, asked)
        except ServiceError as error:
            found = [error] * len(asked), ""
        verdicts, proposed = found
        bars = max(SURE_YES, upper or 0.0), max(SURE_NO, lower or 0.0)
        grades: list[Grade | None] = list(scored.grades)
        failed: list[ServiceError] = []
        for i, verdict in zip(middle, verdicts, strict=True):
            if isinstance(verdict, ServiceError):
                failed.append(verdict)
            else:
                grades[i] = None if verdict is None else _graded(scored.grades[i], verdict, *bars)
        if not failed:
            return GradedPassages(grades, query=proposed)
        note = f"graded without the chat model: {failed[0].message}"
        return GradedPassages(
            grades,
            "; ".join(filter(None, [scored.degraded, note])),
            kind=failed[0].code,
            fallback="the scorer's verdicts",
        )

    def _sure_of(self, grade: Grade | None) -> bool:
        """Whether the scorer's verdict needs no second one."""
        if grade is None or grade.probability is None:
            return False
        sure = grade.verdict == "correct" and grade.probability >= self._sure
        return sure or grade.verdict == "incorrect"

    async def _in_one_call(self, question: str, asked: Sequence[Candidate]) -> Verdicts:
        reply = await self._chat.structured(
            prompts.passages_answer(question, [shown(c) for c in asked]),
            prompts.Answering,
            max_tokens=SHORT_REPLY,
        )
        proposed = one_line(printable(reply.query))
        usable = not (reply.answering or len(proposed) > LONGEST or dictated(proposed, question))
        verdicts = [float(n in reply.answering) for n in range(1, len(asked) + 1)]
        return verdicts, proposed if usable else ""

    async def _one_by_one(self, question: str, asked: Sequence[Candidate]) -> Verdicts:
        """Side by side. Raises the first error where not one call gave a verdict."""
        found = await asyncio.gather(*(self._one(question, c) for c in asked))
        errors = [one for one in found if isinstance(one, ServiceError)]
        if len(errors) == len(found):
            raise errors[0]
        return [None if isinstance(one, NoVerdict) else one for one in found], ""

    async def _one(self, question: str, candidate: Candidate) -> Judged:
        try:
            return await self._chat.yes(prompts.passage_answers(question, shown(candidate)))
        except ServiceError as error:
            return error


def _graded(scored: Grade | None, yes: float, upper: float, lower: float) -> Grade:
    verdict: Verdict = "ambiguous"
    if yes >= upper:
        verdict = "correct"
    elif yes < lower:
        verdict = "incorrect"
    if scored is None:
        return Grade(verdict, yes, {"chat": round(yes, 4)})
    signs = {**scored.signs, "chat": round(yes, 4)}
    return replace(scored, verdict=verdict, probability=yes, signs=signs)


def shown(candidate: Candidate) -> str:
    """A passage as a prompt shows it, with where it stands and whether it is current."""
    chunk = candidate.chunk
    place = " > ".join(part for part in (chunk.title, chunk.heading) if part)
    status = chunk.metadata.get("status", "current")
    mark = "" if status == "current" else f" ({status}, not current)"
    return f"[{place}{mark}] {chunk.text}"
