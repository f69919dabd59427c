"""Checks quotations: a sentence stands where the stored text says exactly that."""

from collections.abc import Sequence

from nodes.citations import citations_problem
from nodes.ports import Sources
from nodes.state import Sentence, SourceSpan, Support


class QuoteChecker:
    """Each sentence must be the words of every passage it cites, at the offsets it gives.

    Probability is 1 where it is and 0 where it is not: equality leaves nothing to estimate.
    """

    async def check(
        self, question: str, sentences: Sequence[Sentence], sources: Sources
    ) -> list[Support]:
        return [self._check(sentence, sources) for sentence in sentences]

    def _check(self, sentence: Sentence, sources: Sources) -> Support:
        problem = _problem(sentence, sources)
        if problem:
            return Support(sentence.text, "unsupported", 0.0, problem)
        cited = sentence.citations[0]
        span = SourceSpan(cited.document_id, cited.revision, cited.start, cited.end)
        return Support(sentence.text, "supported", 1.0, span=span)


def _problem(sentence: Sentence, sources: Sources) -> str:
    problem = citations_problem(sentence, sources)
    if not problem and any(citation.quote != sentence.text for citation in sentence.citations):
        return "not the words of the passage it cites"
    return problem
