"""What an answer is worth: right, wrong, grounded, cited, or rightly refused."""

import re
from collections import Counter
from collections.abc import Callable

from eval.citations import supports
from eval.golden import GoldenQuestion, Label
from eval.labels import holds_words, plain, quotes_much
from eval.records import Ran

Value = float | None
ANSWERS = ("answered", "answered_partially")
CITED = re.compile(r"\[\d+\]")
"""Citation numbers, which are no words of an answer."""


def answered(ran: Ran) -> bool:
    """Any other outcome counts as a refusal."""
    return ran.outcome in ANSWERS


def right(question: GoldenQuestion, ran: Ran) -> bool:
    """Answerable, answered with all of `must_contain` (without any, with one of the labelled
    quotes cited from its document), and nothing of `forbidden`."""
    if not question.answerable or not answered(ran):
        return False
    told = worded(ran)
    if any(holds_words(told, text) for text in question.forbidden):
        return False
    if question.must_contain:
        return all(holds_words(told, text) for text in question.must_contain)
    return any(cites(ran, label) for label in question.relevant)


def worded(ran: Ran) -> str:
    """The answer without its citation numbers."""
    return CITED.sub(" ", ran.answer)


def cites(ran: Ran, label: Label) -> bool:
    """Whether a sentence cites the label's document, and there its quote in substance."""
    return any(
        cited.document == label.document and quotes_much(cited.quote, label.quote)
        for sentence in ran.sentences
        for cited in sentence.citations
    )


def _answered_wrong(question: GoldenQuestion, ran: Ran) -> Value:
    return float(answered(ran) and not right(question, ran))


def _correctness(question: GoldenQuestion, ran: Ran) -> Value:
    return float(right(question, ran)) if question.answerable else None


def _corrected(question: GoldenQuestion, ran: Ran) -> Value:
    return float(right(question, ran) and ran.loops > 0) if question.answerable else None


def _groundedness(question: GoldenQuestion, ran: Ran) -> Value:
    """Sentences that a passage of the run supports, whatever the run's own check said."""
    if not answered(ran) or not ran.sentences:
        return None
    held = [any(supports(told.text, text) for text in ran.passages) for told in ran.sentences]
    return sum(held) / len(held)


def _citation_coverage(question: GoldenQuestion, ran: Ran) -> Value:
    if not answered(ran) or not ran.sentences:
        return None
    return sum(bool(told.citations) for told in ran.sentences) / len(ran.sentences)


def _citation_validity(question: GoldenQuestion, ran: Ran) -> Value:
    """Citations whose offsets and hash hold and whose quote supports the sentence."""
    problems = [cited.problem for told in ran.sentences for cited in told.citations]
    if not answered(ran) or not problems:
        return None
    return sum(not problem for problem in problems) / len(problems)


def _refusal_precision(question: GoldenQuestion, ran: Ran) -> Value:
    return None if answered(ran) else float(not question.answerable)


def _refusal_recall(question: GoldenQuestion, ran: Ran) -> Value:
    return None if question.answerable else float(not answered(ran))


def _refusal_correctness(question: GoldenQuestion, ran: Ran) -> Value:
    """Whether answering, or refusing, was the right thing to do with this question."""
    return float(answered(ran) == question.answerable)


def _exact_match(question: GoldenQuestion, ran: Ran) -> Value:
    if question.answer is None or not question.answerable:
        return None
    return float(answered(ran) and _tokens(ran.answer) == _tokens(question.answer))


def _token_f1(question: GoldenQuestion, ran: Ran) -> Value:
    """Of the words of answer and reference, as in Rajpurkar et al., "SQuAD" (2016), section 6.1;
    a refusal scores 0."""
    if question.answer is None or not question.answerable:
        return None
    said, wanted = Counter(_tokens(ran.answer)), Counter(_tokens(question.answer))
    common = (said & wanted).total()
    if not answered(ran) or not common:
        return 0.0
    return 2 * common / (said.total() + wanted.total())


def _tokens(text: str) -> list[str]:
    """Words without citation numbers and articles."""
    words = re.findall(r"\w+", plain(CITED.sub(" ", text)))
    return [word for word in words if word not in ("a", "an", "the")]


METRICS: dict[str, Callable[[GoldenQuestion, Ran], Value]] = {
    "correctness": _correctness,
    "answered_wrong": _answered_wrong,
    "refusal_correctness": _refusal_correctness,
    "refusal_precision": _refusal_precision,
    "refusal_recall": _refusal_recall,
    "groundedness": _groundedness,
    "citation_coverage": _citation_coverage,
    "citation_validity": _citation_validity,
    "exact_match": _exact_match,
    "token_f1": _token_f1,
    "corrected": _corrected,
    "loops": lambda question, ran: float(ran.loops),
    "chat_calls": lambda question, ran: float(ran.chat_calls),
    "tokens": lambda question, ran: float(ran.tokens),
}
"""A value for each question, None where the metric does not apply to it. All are shares in [0, 1]
but the last three."""
