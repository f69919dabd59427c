"""Whether a question lacks what it is about, so that several answers would fit."""

import re
from collections.abc import Sequence

from nodes.words import content_words, guess_language, literals, stem

BARE = 1
"""Content words of a question that names a thing and not whose: "What is the limit?"."""

BEFORE = 1
"""Content words before a pronoun among which its noun cannot be: "How much does it cost?"."""

ASKS = re.compile(
    r"\?\s*$|^\W*(?:who|what|when|where|which|why|how|tell|wer|was|wann|wo|welche\w*|warum|wie"
    r"|qui[eé]n|qu[eé]|cu[aá]l\w*|cu[aá]nt\w*|c[oó]mo|d[oó]nde)\b",
    re.IGNORECASE,
)
"""A question; a keyword alone is a search."""

DETERMINED = re.compile(
    r"\b(?:this|these|those|diese[rsmn]?|este|estos|esta|estas|ese|esa|esos|esas)\s+"
    r"(?:(?:type|kind|sort)s?\s+of\s+)?(?P<noun>[^\W\d_]+(?:\s+[^\W\d_]+)?)",
    re.IGNORECASE,
)
DEFINITE = re.compile(r"\b(?:the|der|die|das|den|dem|el|la|los|las)\s+[^\W\d_]+\W*$", re.IGNORECASE)
"""A question that ends in a thing as if it were known which."""

QUALITY = re.compile(r"\w+(?:ed|ent|ant|able|ible|ful|ive|ly|al|ous)\b", re.IGNORECASE)
"""Endings of adjectives, adverbs and participles; an adjective before its noun is missed."""

TIMES = frozenset(
    """year month week day morning afternoon evening time way case moment quarter summer winter
    spring autumn jahr monat woche tag abend mal fall año mes semana día vez caso""".split()
)
"""What "this" points at without anything said before: "this year"."""

PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her)\b"
    r"|\b(?:dessen|deren|dafür|davon|damit|ihn|ihm)\b|\b(?:das|es)(?=\W*$)|\b(?:ello|eso)\b",
    re.IGNORECASE,
)
EXPLETIVE = re.compile(
    r"\bit(?:'s|\s+(?:is|was|will|would|take|takes|took|rain\w*|snow\w*|matter\w*))\b"
    r"|\bit\b.*\b(?:to|that|if|when|whether|for|until|before|after)\b",
    re.IGNORECASE | re.DOTALL,
)
"""An "it" that stands for what follows: "how long does it take to …"."""


def underspecified(question: str, said: Sequence[str]) -> bool:
    """`said` are the texts of the conversation so far. A code names what a question is about."""
    if not ASKS.search(question) or literals(question):
        return False
    if _points_at_nothing(question, said):
        return True
    if said:
        return False
    bare = len(content_words(question)) == BARE and DEFINITE.search(question) is not None
    return bare or _starts_with_pronoun(question)


def _points_at_nothing(question: str, said: Sequence[str]) -> bool:
    """\"this clinic\" where no clinic was named, here or before."""
    language = guess_language(question)
    known = {stem(word, language) for text in said for word in content_words(text)}
    for match in DETERMINED.finditer(question):
        before = {stem(word, language) for word in content_words(question[: match.start()])}
        nouns = {stem(word, language) for word in content_words(match["noun"])}
        if QUALITY.match(match["noun"]) or not content_words(match["noun"].split()[0]):
            continue  # "Is this intended for …", "similar to this for …": no noun of it
        if len(before) <= 2 and nouns and not nouns & (known | before | TIMES):
            return True
    return False


def _starts_with_pronoun(question: str) -> bool:
    found = PRONOUN.search(question)
    if found is None or EXPLETIVE.search(question):
        return False
    return len(content_words(question[: found.start()])) <= BEFORE
