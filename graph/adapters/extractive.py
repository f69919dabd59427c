"""Answers in the documents' own words: the sentences that state what was asked, verbatim."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from graph.adapters.answer_scorer import AnswerScorer
from graph.adapters.grading import tellable
from graph.adapters.whole_passages import around, asks_for_several
from ingest.documents import Candidate
from nodes.answer_type import asks_of_several, expected_type, holds_type
from nodes.answer_words import NEEDS_ITS_KIND, AnswerType
from nodes.citations import cite
from nodes.conflicts import Statement, contradict
from nodes.findings import Evidence, Rejected, Sentence, Stated
from nodes.layout import row_name
from nodes.notes import status_note
from nodes.parts import SEVERAL
from nodes.ports import Draft
from nodes.trust import trust
from nodes.words import content_words, guess_language, literals, stems

CLOSE = 2.5
"""Log odds below the best sentence at which another one is still told: odds of about 1 to 12. On
the tuning questions that told more right answers than 1.2, and fewer wrong ones."""

HELD_TO: frozenset[AnswerType] = NEEDS_ITS_KIND | {"person", "place"}
"""Kinds that a told sentence must hold. A person or a place is no condition of a grade, which may
rest on the sentence beside the one that names it."""

NAMED = 0.5
"""Share of the words of a row's first cell by which a question names it."""

SAME = 0.8
"""Share of common content words from which two sentences say the same."""


@dataclass(frozen=True)
class Told:
    candidate: Candidate
    stated: Stated

    @property
    def text(self) -> str:
        return self.candidate.chunk.text[self.stated.start : self.stated.end]

    @property
    def log_odds(self) -> float:
        inside = min(max(self.stated.probability, 1e-9), 1 - 1e-9)
        return math.log(inside / (1 - inside))


class ExtractiveGenerator:
    """At most `limit` sentences that hold the expected kind of answer, each with its citation; of a
    question for rules, steps or reasons the best one with what stands around it, in order.

    They are those that the grader found to state the answer; where it judges passages only, the
    scorer finds them. Nothing is told of a passage whose best sentence is below its model's
    `upper`, even where nothing else is there. A sentence of a document that is not current says so
    in its note.
    """

    def __init__(self, scorer: AnswerScorer) -> None:
        self._scorer = scorer

    async def generate(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        limit: int,
        rejected: Sequence[Rejected],
        kept: Sequence[Sentence],
    ) -> Draft:
        told = [
            Told(e.candidate, stated)
            for e, sentences in zip(evidence, await self._stated(question, evidence), strict=True)
            for stated in sentences
        ]
        wrong, known = {one.sentence for one in rejected}, {one.text for one in kept}
        may_answer = _answers(question)
        open_ones = [one for one in told if one.text not in wrong and may_answer(one.text)]
        open_ones = _of_the_named(question, _on_the_subject(question, told, open_ones))
        rows = _of_the_named_row(question, open_ones)
        chosen = choose(question, rows, limit)
        if chosen and asks_for_several(question) and not _is_row_of(rows, open_ones, chosen[0]):
            chosen = _whole(question, chosen, wrong)
        fresh = [one for one in chosen if one.text not in known]
        return Draft([_cited(n, one, question) for n, one in enumerate(fresh, start=1)])

    async def _stated(self, question: str, evidence: Sequence[Evidence]) -> list[list[Stated]]:
        unread = [e.candidate for e in evidence if e.grade.stated is None]
        scoring = await self._scorer.score(question, unread, among=unread)
        found = iter([tellable(passage) for passage in scoring.passages])
        return [next(found) if e.grade.stated is None else e.grade.stated for e in evidence]


def _answers(question: str) -> Callable[[str], bool]:
    """Whether a sentence holds the kind of answer that is asked for: a time is none to "who", nor
    a price to "how many". What asks two things has no one kind."""
    kind = expected_type(question)
    if kind not in HELD_TO or SEVERAL.search(question):
        return lambda text: True
    return lambda text: holds_type(text, kind, question)


def _on_the_subject(question: str, told: list[Told], open_ones: list[Told]) -> list[Told]:
    """Those that name, with their title and headings, all that the best of all sentences names of
    the question: beside the course on sailing, what the course on rowing takes answers another.
    Only of a question for one value, or of yes or no, and of one thing."""
    one_answer = HELD_TO | {"yes_no"}
    if not told or expected_type(question) not in one_answer or asks_of_several(question):
        return open_ones
    language = guess_language(question)
    asked = set(stems(question, language))

    def named(one: Told) -> set[str]:
        chunk = one.candidate.chunk
        return asked & set(stems(f"{chunk.title} {chunk.heading} {one.text}", language))

    subject = named(max(told, key=lambda one: one.log_odds))
    return [one for one in open_ones if subject <= named(one)]


def _of_the_named(question: str, told: list[Told]) -> list[Told]:
    """Where sentences name a code or key that the question names, only those: the rows of other
    codes in the same table are near, and answer another question."""
    named = [one.casefold() for one in literals(question)]
    having = [one for one in told if any(name in one.text.casefold() for name in named)]
    best = max(told, key=lambda one: one.log_odds, default=None)
    return having if best in having else told


def _of_the_named_row(question: str, told: list[Told]) -> list[Told]:
    """Of the rows of tables those whose first cell names most of what the question names, where the
    best row is one of them: `Cargo bike`, and not the city bikes beside it. A row is named by half
    of its words: who asks for the rules of leave asks for more than `Leave days per year`."""
    language = guess_language(question)
    asked = set(stems(question, language))
    rows = {n: set(stems(row_name(one.text), language)) for n, one in enumerate(told)}
    named = {n: len(asked & name) for n, name in rows.items() if name}
    best = max(named, key=lambda n: told[n].log_odds, default=None)
    if best is None or named[best] < max(max(named.values()), NAMED * len(rows[best])):
        return told
    return [one for n, one in enumerate(told) if named.get(n, named[best]) == named[best]]


def _is_row_of(rows: Sequence[Told], told: Sequence[Told], one: Told) -> bool:
    """Whether it is a row that the question names among others: what stands around is theirs."""
    return len(rows) < len(told) and bool(row_name(one.text))


def choose(question: str, told: Sequence[Told], limit: int) -> list[Told]:
    """The best sentence, and those close to it that do not repeat it: those of the more trusted
    sources first, then the best first."""
    ranked = sorted(
        told, key=lambda one: (-one.log_odds, one.candidate.chunk.chunk_id, one.stated.start)
    )
    close = [one for one in ranked if one.log_odds >= ranked[0].log_odds - CLOSE]
    chosen: list[Told] = []
    for one in sorted(close, key=lambda one: -trust(one.candidate)):
        if len(chosen) < limit and not any(_same(question, one, other) for other in chosen):
            chosen.append(one)
    return chosen


def _whole(question: str, chosen: Sequence[Told], wrong: Collection[str]) -> list[Told]:
    """The first with what stands around it, and those of other passages."""
    best = chosen[0].candidate
    told = [
        Told(best, stated) for stated in around(question, best, chosen[0].stated, without=wrong)
    ]
    return [*told, *(one for one in chosen if one.candidate is not best)]


def _same(question: str, one: Told, other: Told) -> bool:
    """Whether one repeats the other: with another number in another document, it denies it."""
    a, b = set(content_words(one.text)), set(content_words(other.text))
    repeats = len(a & b) >= SAME * max(1, min(len(a), len(b)))
    statements = (Statement(told.text, told.candidate) for told in (one, other))
    return repeats and not contradict(question, *statements)


def _cited(n: int, told: Told, question: str) -> Sentence:
    citation = cite(told.candidate, told.stated.start, told.stated.end, n)
    return Sentence(told.text, [citation], status_note(told.candidate, question))
