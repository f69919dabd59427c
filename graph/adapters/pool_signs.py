"""All signs of a question's candidates: their own, and their lead over each other."""

import re
from collections.abc import Sequence
from dataclasses import replace

from graph.adapters.passage_signs import Signs, vector_signs, word_signs
from graph.adapters.question_signs import AskedQuestion
from graph.adapters.sentence_signs import SentenceSigns, sentence_signs
from ingest.documents import Candidate
from ingest.passage_vectors import PassageVectors
from nodes.answer_type import asks_of_several
from nodes.answer_words import NEEDS_ITS_KIND

ReadSentence = tuple[SentenceSigns, Signs]

POOL = 12
"""Candidates, best first, that a passage is compared with."""

HIGHEST = 0.12
"""A lead above this says no more. In a small base of mixed topics every passage on the question's
topic stands far above the others, whether or not it answers."""

FEWEST = 3
"""Others below which no passage has a lead: among two or three, being the best says little."""

LED = ("late", "cosine", "passage_late", "passage_dense")
"""Signs whose lead counts. Where a question has an answer, the passage that states it stands out;
where it has none, several are alike."""


_GOES_ON = re.compile(
    r"\W*(?:it|this|that|they|these|he|she|er|sie|es|dies\w*|each|every|jede\w?|[eé]l|ella|est[aeo]s?)\b",
    re.IGNORECASE,
)
"""What speaks of the thing before."""


def pooled(candidates: Sequence[Candidate], among: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, then the first POOL of `among` that are not there yet."""
    pool = {candidate.chunk.chunk_id: candidate for candidate in candidates}
    for other in among[:POOL]:
        pool.setdefault(other.chunk.chunk_id, other)
    return list(pool.values())


def read_passages(
    question: AskedQuestion,
    pool: Sequence[Candidate],
    vectors: Sequence[PassageVectors | None],
) -> list[list[ReadSentence]]:
    """For each passage its sentences, each with its own signs, as `passage_…` those of its
    passage, and as `…_lead` how far it stands above the best of the other passages."""
    found = [_read(question, *one) for one in zip(pool, vectors, strict=True)]
    if question.kind in NEEDS_ITS_KIND and not asks_of_several(question.text):
        found = [_on_subject(read) for read in found]
    for name in LED:
        best = [max((s[name] for _, s in read if name in s), default=None) for read in found]
        for place, read in enumerate(found):
            others = [value for n, value in enumerate(best) if n != place and value is not None]
            rival = max(others) if len(others) >= FEWEST else None
            for _, signs in read:
                if name in signs:
                    lead = 0.0 if rival is None else signs[name] - rival
                    signs[f"{name}_lead"] = min(lead, HIGHEST)
    return found


def _on_subject(read: list[ReadSentence]) -> list[ReadSentence]:
    """A sentence is no answer where a later one of its passage, which is none for lack of its kind,
    names all that it names of the question's subject, and more: canoes are spoken of, and the price
    before is of boats. What follows upon that other one may go on about the same."""
    kept: list[ReadSentence] = []
    later: list[frozenset[str]] = []
    for sentence, signs in reversed(read):
        another = any(sentence.names < more for more in later)
        fit = sentence.eligible and (not another or _GOES_ON.match(sentence.text) is not None)
        kept.append((replace(sentence, eligible=fit), signs))
        if not sentence.holds:
            later.append(sentence.names)
    return kept[::-1]


def _read(
    question: AskedQuestion, candidate: Candidate, vectors: PassageVectors | None
) -> list[ReadSentence]:
    sentences = sentence_signs(question, candidate.chunk, vectors)
    whole = word_signs(question, candidate)
    if vectors is not None:
        whole |= vector_signs(question, vectors, sentences)
    shared = {f"passage_{name}": value for name, value in whole.items()}
    return [(sentence, sentence.signs | shared) for sentence in sentences]
