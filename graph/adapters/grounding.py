"""Checks quotations: a sentence stands where the stored text says exactly that."""

from collections.abc import Sequence

from ingest.documents import quote_sha256
from nodes.ports import Sources
from nodes.state import Citation, Sentence, Support


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
    if not sentence.citations:
        return "no citation"
    for citation in sentence.citations:
        problem = citation_problem(citation, sources)
        if problem:
            return problem
        if citation.quote != sentence.text:
            return "not the words of the passage it cites"
    return ""


def citation_problem(citation: Citation, sources: Sources) -> str:
    """What is wrong with a citation, or nothing: the quote must stand at its offsets, now."""
    text = sources.texts.get((citation.document_id, citation.revision))
    if text is None:
        return "the cited document no longer answers"
    if not 0 <= citation.start < citation.end <= len(text):
        return "the offsets lie outside the document"
    if text[citation.start : citation.end] != citation.quote:
        return "the quote does not stand at its offsets"
    if quote_sha256(citation.quote) != citation.quote_sha256:
        return "the quote was altered"
    return ""
