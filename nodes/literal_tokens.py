"""What a rewrite of a question may not lose: codes, names of functions, numbers, "thirty days"."""

import re

from nodes.words import LITERAL, content_words, guess_language, literals, words

_CODE = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Za-z_]\w*(?=\(\))|\w+(?:::\w+)+)")
"""getUserName, open(), Shard::load: what nodes/words.py does not take for a literal."""

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")

_VALUES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 20, 30, 40, 50, 60, 90, 100, 1000)
_NAMES = {
    "en": "two three four five six seven eight nine ten twelve fourteen fifteen twenty thirty "
    "forty fifty sixty ninety hundred thousand",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn zwölf vierzehn fünfzehn zwanzig "
    "dreißig vierzig fünfzig sechzig neunzig hundert tausend",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez doce catorce quince veinte treinta "
    "cuarenta cincuenta sesenta noventa cien mil",
}
"""No "one": it mostly stands for a thing."""

_DIGITS = {
    language: {name: str(n) for name, n in zip(names.split(), _VALUES, strict=True)}
    for language, names in _NAMES.items()
}


def kept_words(question: str) -> list[str]:
    """The tokens that must survive every rewrite, as they are written, without repeats; a number
    in words with what it counts."""
    found = [m for rule in (LITERAL, _CODE, _NUMBER) for m in rule.finditer(question)]
    outer = [m.group() for m in found if not any(_inside(m, other) for other in found)]
    return list(dict.fromkeys([*outer, *_in_words(question)]))


def lost_words(question: str, rewrite: str) -> list[str]:
    """The tokens of the question that the rewrite has neither as they are nor, for a number in
    words, in digits."""
    digits = _in_words(question)
    return [one for one in kept_words(question) if not _stands(digits.get(one, [one]), rewrite)]


def is_lookup(question: str) -> bool:
    """Whether it is a key, a code or a single word, with at most a word that says of what kind:
    there are no other words for it."""
    codes = {word for literal in literals(question) for word in words(literal)}
    left = [word for word in words(question) if word not in codes]
    return len(left) <= 1 and set(left) <= set(content_words(question)) and bool(codes or left)


def _in_words(question: str) -> dict[str, list[str]]:
    """Each number in words with what it counts, and what it may be called."""
    digits = _DIGITS[guess_language(question)]
    named = re.finditer(
        rf"\b(?P<number>{'|'.join(digits)})\b(?:[\s-]+[^\W\d_]+)?", question, re.IGNORECASE
    )
    return {m.group(): [m["number"], digits[m["number"].lower()]] for m in named}


def _inside(one: re.Match[str], other: re.Match[str]) -> bool:
    within = other.start() <= one.start() and one.end() <= other.end()
    return within and one.span() != other.span()


def _stands(names: list[str], rewrite: str) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", rewrite, re.IGNORECASE) for name in names
    )
