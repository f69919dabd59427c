"""Labelled passages: what the grader is fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass

from eval.datasets import Question
from eval.labels import SHORTEST, holds_answer, holds_quote, states_quote
from graph.adapters.pool_signs import ReadSentence, pooled, read_passages
from graph.adapters.question_signs import read_question
from graph.adapters.sentence_signs import SentenceSigns
from graph.adapters.token_vectors import TokenVectors
from ingest.documents import Candidate
from ingest.filters import Filters
from ingest.index import Index
from ingest.scope import LOCAL
from nodes.plan_queries import derived_filters
from nodes.ports import Reranker

GRADED = 12
"""Candidates of each question that become rows: those a run with its loops would grade."""


@dataclass(frozen=True)
class Passage:
    """One labelled passage of one question: its sentences with their signs and labels."""

    group: str
    sentences: list[ReadSentence]
    sentence_labels: list[bool]
    label: bool


async def labelled_passages(
    index: Index,
    reranker: Reranker,
    vectors: TokenVectors,
    base: str,
    questions: Sequence[Question],
    *,
    dataset: str,
) -> list[Passage]:
    """The best candidates of each question, searched as the first loop of a run searches.

    A passage of a relevant document that does not hold the answer is left out: nobody judged it.
    """
    rows: list[Passage] = []
    for question in questions:
        filters = derived_filters(question.text, Filters())
        found = await index.search(
            LOCAL, base, question.text, [question.text], limit=50, filters=filters
        )
        ranked = await reranker.rerank(question.text, found)
        labels = [label_of(question, candidate) for candidate in ranked[: GRADED * 2]]
        kept = [(c, x) for c, x in zip(ranked, labels, strict=False) if x is not None][:GRADED]
        pool = pooled([candidate for candidate, _ in kept], ranked)
        asked = read_question(question.text, await vectors.question(question.text))
        encoded = await vectors.passages([candidate.chunk for candidate in pool])
        read = read_passages(asked, pool, encoded)
        for (candidate, label), sentences in zip(kept, read, strict=False):
            states = [bool(label) and states_answer(question, candidate, s) for s, _ in sentences]
            rows.append(Passage(f"{dataset}/{question.id}", sentences, states, bool(label)))
    return rows


def label_of(question: Question, candidate: Candidate) -> bool | None:
    """None where nobody can tell from the labels.

    A superseded or draft document is no negative for a question about the present one: it may
    well state an answer, and another rule keeps it out.
    """
    text, source = candidate.chunk.text, candidate.chunk.metadata["source"]
    if question.quotes:
        if any(states_quote(text, quote) for quote in _quotes(question, source)):
            return True
        old = candidate.chunk.metadata.get("status", "current") != "current"
        return None if old or holds_answer(text, question.answers) else False
    if source not in question.relevant:
        return False
    return True if not question.answers or holds_answer(text, question.answers) else None


def states_answer(question: Question, candidate: Candidate, sentence: SentenceSigns) -> bool:
    if not question.quotes:
        return holds_answer(sentence.text, question.answers)
    quotes = _quotes(question, candidate.chunk.metadata["source"])
    return any(_sentence_states(sentence.text, quote) for quote in quotes)


def _quotes(question: Question, source: str) -> list[str]:
    return [quote for document, quote in question.quotes if document == source]


def _sentence_states(sentence: str, quote: str) -> bool:
    return holds_quote(sentence, quote) or (
        len(sentence) > SHORTEST and holds_quote(quote, sentence)
    )
