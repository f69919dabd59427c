"""Checks quotations: a sentence stands where the stored text says exactly that."""

from collections.abc import Sequence

from nodes.citations import citations_problem
from nodes.ports import Sources
from nodes.state import Sentence, Support


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
        return Support(sentence.text, not problem, 0.0 if problem else 1.0, problem)


def _problem(sentence: Sentence, sources: Sources) -> str:
    problem = citations_problem(sentence, sources)
    if not problem and any(citation.quote != sentence.text for citation in sentence.citations):
        return "not the words of the passage it cites"
    return problem
