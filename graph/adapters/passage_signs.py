"""Signs of a whole passage that it contains what answers a question, beyond being near it."""

import numpy as np

from graph.adapters.question_signs import NEGATION, AskedQuestion, missing, share, text_stems
from graph.adapters.sentence_signs import SentenceSigns
from graph.adapters.token_vectors import max_sim
from ingest.documents import Candidate
from ingest.passage_vectors import PassageVectors

Signs = dict[str, float]


def word_signs(question: AskedQuestion, candidate: Candidate) -> Signs:
    """What needs no token vectors. `bm25` is for each stem of the question; shares in [0, 1].

    A reranker's order is no sign: it tells the best of the candidates, also where none answers.
    """
    chunk = candidate.chunk
    head = f"{chunk.title} {chunk.heading}"
    whole = f"{head} {chunk.text}"
    return {
        "dense": candidate.scores.get("dense", 0.0),
        "bm25": candidate.scores.get("bm25", 0.0) / max(1, len(question.stems)),
        "coverage": share(question.stems, text_stems(whole, question.language)),
        "head_coverage": share(question.stems, text_stems(head, question.language)),
        "literals_missing": missing(question.literals, whole.lower()),
        "numbers_missing": missing(question.numbers, whole),
        "names_missing": missing(question.names, whole.lower()),
        "negation_differs": float(question.negated and not NEGATION.search(chunk.text)),
        "question_length": float(np.log1p(len(question.stems))),
    }


def vector_signs(
    question: AskedQuestion, vectors: PassageVectors, sentences: list[SentenceSigns]
) -> Signs:
    """What the token vectors show: `late` in [-1, 1], `length` the logarithm of the tokens.

    The passage's own cosine and what repeats its best sentence are left out: such signs only
    weighed against each other, and measured no better.
    """
    tokens = vectors.tokens
    late = (
        max_sim(question.tokens, tokens) if question.tokens is not None else np.zeros(0, np.float32)
    )
    return {
        "late": float(late.mean()) if len(late) else 0.0,
        "type_missing": float(not any(s.holds for s in sentences)),
        "length": float(np.log1p(len(tokens))),
    }
