"""When two passages state different answers to one question, and which of them is the newer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.documents import Candidate
from nodes.answer_type import expected_type
from nodes.answer_values import NUMBER, measures, names, periods, shape, stated_values
from nodes.money import is_money
from nodes.words import content_words, guess_language, literals, stem, words

SAME_SUBJECT = 0.6
"""Share of the question's words that both passages hold, of those that either does."""

PARALLEL = 0.6
"""Share of common words from which yes and no are said of the same thing."""

COMMON = 0.15
"""Share of common words below which two sentences speak of different things, whatever the passages
around them are about."""

_OPEN = dict.fromkeys("close closes closed closing opens opening opened".split(), "open") | (
    dict.fromkeys(
        "schließt schließen geschlossen öffnet öffnen öffnungszeiten offen".split(), "geöffnet"
    )
)
"""When something closes says when it is open."""

COPIED = 0.7
"""Share of common words from which two passages are one source, told twice."""


@dataclass(frozen=True)
class Statement:
    """A sentence that answers from a passage; told by a generator, or its own words."""

    text: str
    candidate: Candidate


def agree(question: str, one: Statement, other: Statement) -> bool:
    """Whether they have an answer in common."""
    if _divided(question, one, other):
        return False
    return bool(stated_values(one.text, question) & stated_values(other.text, question))


def contradict(question: str, one: Statement, other: Statement) -> bool:
    """Whether two documents answer the same thing with nothing in common.

    Where values cannot be read, or what the question names stands in one of them only, they are no
    contradiction: a rule for Leipzig does not deny the one for Columbus, nor a price for a month
    the one for a year.
    """
    if one.candidate.chunk.document_id == other.candidate.chunk.document_id:
        return False
    each, every = periods(one.text), periods(other.text)
    if each and every and not each & every:
        return False
    divided = _divided(question, one, other)
    if not divided and not _differ(question, one, other):
        return False
    if not divided and _common(question, one, other) < COMMON:
        return False
    return _same_subject(question, one, other, numbers=not divided)


def _differ(question: str, one: Statement, other: Statement) -> bool:
    ours, theirs = stated_values(one.text, question), stated_values(other.text, question)
    if ours & theirs or not {shape(value) for value in ours} & {shape(value) for value in theirs}:
        return False
    if {is_money(one.text), is_money(other.text)} == {True, False}:
        return False
    return expected_type(question) != "yes_no" or _overlap(one.text, other.text) >= PARALLEL


def _divided(question: str, one: Statement, other: Statement) -> bool:
    """Whether a question of yes or no asks about a value that theirs stand on two sides of: open
    at 21:00 is so until 22:00, and not until 20:00; at noon it is so by both."""
    if expected_type(question) != "yes_no":
        return False
    ours, theirs = measures(one.text), measures(other.text)
    return any(
        _between(value, ours.get(unit, set()), theirs.get(unit, set()))
        for unit, values in measures(question).items()
        for value in values
    )


def _between(asked: float, ours: set[float], theirs: set[float]) -> bool:
    if not ours or not theirs:
        return False
    if (asked in ours) != (asked in theirs):
        return True
    below, above = (
        [sum(far(value, asked) for value in values) for values in (ours, theirs)]
        for far in (float.__lt__, float.__gt__)
    )
    return below[0] != below[1] and above[0] != above[1]


def _same_subject(question: str, one: Statement, other: Statement, *, numbers: bool) -> bool:
    """`numbers` that the question names are of its subject, but where they divide the two."""
    language = guess_language(question)
    asked = {_subject(w, language) for w in content_words(question) if not w.isdigit()}
    ours, theirs = (
        asked & {_subject(word, language) for word in words(_placed(x))} for x in (one, other)
    )
    if len(ours & theirs) < SAME_SUBJECT * max(1, len(ours | theirs)):
        return False
    if _siblings(asked, language, one, other):
        return False
    if question.isupper():  # capitals say nothing of its words then
        question = question.lower()
    named = {name.lower() for name in [*literals(question), *NUMBER.findall(question)]}
    named |= names(question)
    named = {name for name in named if numbers or any(map(str.isalpha, name))}
    held = [
        {
            name
            for name in named
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _placed(x), re.IGNORECASE)
        }
        for x in (one, other)
    ]
    return held[0] == held[1]


def _siblings(asked: set[str], language: str, one: Statement, other: Statement) -> bool:
    """Whether their titles name two things of one kind, `Hütte Reiher` and `Hütte Otter`, of which
    the question names one: in German its capital tells no name from a noun."""
    ours, theirs = (
        {_subject(word, language) for word in words(x.candidate.chunk.title)} for x in (one, other)
    )
    own, its = ours - theirs, theirs - ours
    alike = bool(ours & theirs) and bool(own) and bool(its)
    return alike and bool(asked & own) != bool(asked & its)


def _common(question: str, one: Statement, other: Statement) -> float:
    """The Jaccard index of the words of both sentences, in [0, 1], numbers apart."""
    language = guess_language(question)
    ours, theirs = (
        {_subject(w, language) for w in content_words(x.text) if not w.isdigit()}
        for x in (one, other)
    )
    return len(ours & theirs) / max(1, len(ours | theirs))


def _subject(word: str, language: str) -> str:
    return stem(_OPEN.get(word, word), language)


def _placed(statement: Statement) -> str:
    chunk = statement.candidate.chunk
    return f"{chunk.title} {chunk.heading} {chunk.text}"


def newer(one: Candidate, other: Candidate) -> bool:
    """Whether metadata say that the first is the newer: its status, its date, or its version.

    Versions are compared within one title only: version 5 of one document is not newer than
    version 2026 of another.
    """
    ours, theirs = one.chunk.metadata, other.chunk.metadata
    current = [meta.get("status", "current") == "current" for meta in (ours, theirs)]
    if current[0] != current[1]:
        return current[0]
    dates = ours.get("effective"), theirs.get("effective")
    if all(dates) and dates[0] != dates[1]:
        return str(dates[0]) > str(dates[1])
    return (
        same_title(one, other)
        and _version(ours.get("version")) > _version(theirs.get("version")) != ()
    )


def same_title(one: Candidate, other: Candidate) -> bool:
    """Whether they are versions of one document: `Refunds v3` and `Refunds (version 2)`."""
    return _family(one.chunk.title) == _family(other.chunk.title)


def _version(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version or ""))


def _family(title: str) -> list[str]:
    """The words of a title without its version."""
    return [w for w in words(title) if w != "version" and not re.fullmatch(r"v?\d+", w)]


def sources(candidates: Sequence[Candidate]) -> int:
    """How many independent ones: a text that was copied counts once, and a document once."""
    kept: list[Candidate] = []
    for candidate in candidates:
        if not any(_one_source(candidate, other) for other in kept):
            kept.append(candidate)
    return len(kept)


def _one_source(one: Candidate, other: Candidate) -> bool:
    same = one.chunk.document_id == other.chunk.document_id
    return same or _overlap(one.chunk.text, other.chunk.text) >= COPIED


def _overlap(one: str, other: str) -> float:
    """The Jaccard index of the content words, in [0, 1]."""
    a, b = set(content_words(one)), set(content_words(other))
    return len(a & b) / max(1, len(a | b))
