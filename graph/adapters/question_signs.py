"""What a question asks for, made once and held against every passage and sentence."""

import re
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.ports import Encoded, Vector
from nodes.answer_type import expected_type
from nodes.answer_words import ASKING, AnswerType
from nodes.asked_slot import Slots, slots_of
from nodes.asked_year import asked_years
from nodes.words import ALL_STOP_WORDS, content_words, guess_language, literals, stem, words

_WORD = re.compile(r"[^\W_]+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
VALUE = re.compile(
    r"\b\w*\d[\w.,:/%\-]*|--?[a-z][\w\-=]+|\b[A-Z]\w*[_+]\w+|[„“\"`][^„“”\"`]{2,60}[“”\"`]"
)
"""What states a value: a number, a code, a flag, a key, a quoted name."""
NAME = re.compile(r"(?<=[\w,;:] )[A-ZÄÖÜ][\w\-]{2,}")
NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|can't|don't|doesn't|without|except|nicht|kein\w*|nie|ohne|nunca"
    r"|sin|ninguna?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class AskedQuestion:
    """A question with what must be found in an answer. `tokens` are those of content words, and
    `subject` the stems that say what it asks about, and not for which kind of answer."""

    text: str
    language: str
    kind: AnswerType
    stems: frozenset[str]
    subject: frozenset[str]
    literals: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    years: frozenset[str]
    slots: Slots
    negated: bool
    sentence: Vector | None = None
    tokens: Vector | None = None


def read_question(question: str, encoded: Encoded | None = None) -> AskedQuestion:
    """Without `encoded` only the signs that words give can be computed."""
    language = guess_language(question)
    stems = frozenset(stem(word, language) for word in content_words(question))
    names = () if language == "de" else NAME.findall(question)
    return AskedQuestion(
        text=question,
        language=language,
        kind=expected_type(question),
        stems=stems,
        subject=stems - {stem(word, language) for word in ASKING},
        literals=frozenset(token.lower() for token in literals(question)),
        numbers=frozenset(NUMBER.findall(question)),
        names=frozenset(name.lower() for name in names),
        values=frozenset(VALUE.findall(question)),
        years=asked_years(question),
        slots=slots_of(question, language),
        negated=bool(NEGATION.search(question)),
        sentence=encoded.sentence if encoded else None,
        tokens=encoded.tokens[_content(question, encoded)] if encoded else None,
    )


def text_stems(text: str, language: str) -> set[str]:
    return {stem(word, language) for word in content_words(text)}


def share(wanted: frozenset[str], present: set[str]) -> float:
    """The part of `wanted` that is present, in [0, 1]; 0 where nothing is wanted."""
    return len(wanted & present) / len(wanted) if wanted else 0.0


def missing(wanted: frozenset[str], text: str) -> float:
    """The part of `wanted` that the text does not hold, in [0, 1]."""
    return sum(token not in text for token in wanted) / len(wanted) if wanted else 0.0


def _content(question: str, encoded: Encoded) -> NDArray[np.bool_]:
    """Tokens of words that carry meaning, and the stop right after one; all where none does."""
    spans = [found.span() for found in _WORD.finditer(question)]
    carrying = [
        any(word not in ALL_STOP_WORDS for word in words(question[start:end]))
        for start, end in spans
    ]
    starts = [start for start, _ in spans]
    within = [bisect_right(starts, int(start)) - 1 for start, _ in encoded.offsets]
    carried = [
        n >= 0 and int(start) <= spans[n][1] and carrying[n]
        for n, (start, _) in zip(within, encoded.offsets, strict=True)
    ]
    mask = np.array(carried, dtype=bool)
    return mask if mask.any() else np.ones(len(encoded.tokens), dtype=bool)
