"""Reads a text for the rules: its words, numbers, negators and terms with an opposite."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from graph.adapters.claim_dates import Date, dates
from graph.adapters.claim_numbers import Quantity, quantities
from graph.adapters.claim_terms import (
    BOUNDING,
    CONDITIONS,
    NEGATORS,
    OPPOSITES,
    PASSIVE,
    QUANTIFIERS,
)
from nodes.words import ALL_STOP_WORDS, guess_language, stem

_WORD = re.compile(r"n't\b|[^\W_]+(?:-[^\W\d_]+)*")
_CLAUSE = re.compile(r"[,;:.!?()–—]|\b(?:and|but|und|aber|oder|or)\b", re.I)
_PASSIVE = re.compile(PASSIVE, re.I | re.S)
EMPTY = ALL_STOP_WORDS | BOUNDING
_REACH = 4
"""Words around a negator that it may turn."""

_SIDES: dict[str, list[tuple[str, bool]]] = {}
for _concept, _both in OPPOSITES.items():
    for _side, _own in enumerate(_both):
        for _stem in _own:
            _SIDES.setdefault(_stem, []).append((_concept, bool(_side)))


@dataclass(frozen=True)
class Word:
    text: str
    stem: str
    start: int
    clause: int


@dataclass(frozen=True)
class ReadText:
    """A text as the rules see it; `polar` holds (concept, turned or not, by a negator or not)."""

    text: str
    words: Sequence[Word]
    content: Sequence[Word]
    numbers: Sequence[Quantity]
    dates: Sequence[Date]
    polar: frozenset[tuple[str, bool, bool]]
    negators: int
    quantifiers: frozenset[str]
    conditions: int
    passive: bool

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.content)


@lru_cache(maxsize=4096)
def read_text(text: str, language: str = "") -> ReadText:
    """In English or German; the language is guessed where none is given."""
    language = language or guess_language(text)
    expanded = text.replace("’", "'")
    words, borders = [], [m.start() for m in _CLAUSE.finditer(expanded)]
    clause = 0
    for match in _WORD.finditer(expanded):
        while clause < len(borders) and borders[clause] < match.start():
            clause += 1
        lowered = match.group().lower()
        words.append(Word(lowered, stem(lowered, language), match.start(), clause))
    negated = [n for n, w in enumerate(words) if _negates(w.text, words, n)]
    numbers = quantities(expanded)
    return ReadText(
        text=text,
        words=words,
        content=[w for w in words if w.text not in EMPTY and len(w.text) > 1],
        numbers=numbers,
        dates=dates(expanded),
        polar=frozenset(_polar(words, negated)),
        negators=len(negated),
        quantifiers=frozenset(
            name for name, own in QUANTIFIERS.items() if any(w.text in own for w in words)
        ),
        conditions=sum(w.text in CONDITIONS for w in words),
        passive=_PASSIVE.search(expanded) is not None,
    )


def _negates(text: str, words: Sequence[Word], n: int) -> bool:
    if text in NEGATORS or text == "n't":
        return True
    return text == "t" and n > 0 and words[n - 1].text.endswith("n")


def _polar(words: Sequence[Word], negated: Sequence[int]) -> list[tuple[str, bool, bool]]:
    found = []
    for n, word in enumerate(words):
        for concept, side in _SIDES.get(word.stem, ()):
            turned = any(
                0 < n - at <= _REACH or 0 < at - n <= 2
                for at in negated
                if words[at].clause == word.clause
            )
            found.append((concept, side != turned, turned))
    return found
