"""Checks quotations: a sentence stands where the stored text says exactly that."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from nodes.citations import citations_problem
from nodes.findings import Sentence, SourceSpan, Support
from nodes.ports import GroundingChecker, Sources


@runtime_checkable
class Judgeable(Protocol):
    """A check that leaves something open, which a judge may decide."""

    def with_judge(self, judge: GroundingChecker) -> GroundingChecker: ...


class QuoteChecker:
    """Each sentence must be the words of every passage it cites, at the offsets it gives.

    Probability is 1 where it is and 0 where it is not: equality leaves nothing to estimate. A
    judge, which accepts quotations itself, takes its place.
    """

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        return [self._check(sentence, sources) for sentence in sentences]

    def with_judge(self, judge: GroundingChecker) -> GroundingChecker:
        return judge

    def _check(self, sentence: Sentence, sources: Sources) -> Support:
        known = quoted_or_wrong(sentence, sources)
        if known is None or any(c.quote != sentence.text for c in sentence.citations):
            problem = known.problem if known else ""
            problem = problem or "not the words of the passage it cites"
            return Support(sentence.text, "unsupported", 0.0, problem)
        return known


def quoted_or_wrong(sentence: Sentence, sources: Sources) -> Support | None:
    """The verdict on what needs no model: a quotation, or a citation that does not hold."""
    problem = citations_problem(sentence, sources)
    if problem:
        return Support(sentence.text, "unsupported", 0.0, problem)
    for cited in sentence.citations:
        if cited.quote == sentence.text:
            span = SourceSpan(cited.document_id, cited.revision, cited.start, cited.end)
            return Support(sentence.text, "supported", 1.0, span=span)
    return None
