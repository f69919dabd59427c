"""Whether an answer is right, by the labels of its golden question."""

from typing import Literal

from eval.datasets import Question
from eval.labels import holds_quote, plain
from graph.answer import Answer

Judged = Literal["right", "wrong", "rightly refused", "wrongly refused"]


def judged(question: Question, answer: Answer) -> Judged:
    """Right: answerable, all of its answers told (or, without any, its quote cited) and nothing
    forbidden. An outcome other than an answer counts as a refusal."""
    if answer.outcome not in ("answered", "answered_partially"):
        return "wrongly refused" if question.answerable else "rightly refused"
    told = plain(answer.answer)
    forbidden = any(plain(text) in told for text in question.forbidden)
    return "right" if question.answerable and not forbidden and _says(question, answer) else "wrong"


def _says(question: Question, answer: Answer) -> bool:
    if question.answers:
        return all(plain(text) in plain(answer.answer) for text in question.answers)
    return any(
        holds_quote(citation.quote, quote) or holds_quote(quote, citation.quote)
        for citation in answer.citations
        for _, quote in question.quotes
    )
