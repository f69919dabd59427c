"""How much a sentence of a document gives orders to a model that reads it, and which ones do.

Signs count as if independent: 1 - Π(1 - weight) over those that are found.
"""

import re
import unicodedata
from functools import lru_cache

from ingest.loaders.normalise import clean
from ingest.sentences import sentence_spans
from nodes.instruction_signs import SIGNS

BAR = 0.5
"""A score from which a sentence counts as an order to a model, in [0, 1]."""

MAX_READ = 2_000
"""Code points of a sentence that are read."""

_PATTERNS = {name: (weight, re.compile(pattern)) for name, (weight, pattern) in SIGNS.items()}

_LOOK_ALIKES = str.maketrans("аеорсухіјѕһԁԛԝвкмнтοαρε", "aeopcyxijshdqwbkmhtoape")


def instruction_signs(sentence: str) -> dict[str, float]:
    """The signs of `SIGNS` that a sentence has, with their weights."""
    text = _plain(sentence)
    return {name: weight for name, (weight, sign) in _PATTERNS.items() if sign.search(text)}


@lru_cache(maxsize=20_000)
def instruction_score(sentence: str) -> float:
    """How much the sentence gives orders to a model instead of telling something, in [0, 1)."""
    innocent = 1.0
    for weight in instruction_signs(sentence).values():
        innocent *= 1 - weight
    return 1 - innocent


def is_instruction(sentence: str) -> bool:
    return instruction_score(sentence) >= BAR


def instruction_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences stand that score as orders, in order."""
    return [(start, end) for start, end in sentence_spans(text) if is_instruction(text[start:end])]


def without_orders(text: str, instead: str = "[…]") -> str:
    """The text with `instead` for each sentence that scores as an order, which `{}` stands for."""
    parts, done = [], 0
    for start, end in instruction_spans(text):
        parts += [text[done:start], instead.replace("{}", text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def _plain(sentence: str) -> str:
    """In lower case, without disguise: full-width and styled letters, letters that look Latin."""
    shown = unicodedata.normalize("NFKC", clean(sentence[:MAX_READ]))
    text = re.sub(r"\s+", " ", shown.casefold()).replace("’", "'")
    latin = sum("a" <= c <= "z" for c in text)
    foreign = sum("\u0370" <= c <= "\u052f" for c in text)
    return text.translate(_LOOK_ALIKES) if latin > 2 * foreign else text
