"""Tells what stands around a sentence: rules, steps and reasons seldom are one sentence."""

import re
from collections.abc import Collection

from ingest.documents import Candidate
from nodes.answer_type import expected_type
from nodes.findings import Stated
from nodes.instructions import is_instruction
from nodes.strips import strips_of
from nodes.words import literals

WORDS = 120
"""Told of one passage, at most: about what fits on a screen of a phone."""

_SEVERAL = re.compile(
    r"\b(?:rules?|happens?|what (?:must|should|do|has|have|are|was|were|can|helps?)|which \w+s"
    r"|how (?:do|does|can|must|should|is|are|to)|steps?|was (?:ist|soll|muss|tun|passiert|gilt)"
    r"|welche|wie (?:wird|werden|soll|muss|kann|ist)|qu[eé] (?:debo|hay|pasa|hago)|cu[aá]les)\b",
    re.IGNORECASE,
)


def asks_for_several(question: str) -> bool:
    """Whether it asks for rules, steps, a list or reasons, and not for one value."""
    kind = expected_type(question)
    named = kind in ("other", "yes_no") and _SEVERAL.search(question) is not None
    return named or kind in ("step", "reason", "definition")


def around(
    question: str, candidate: Candidate, stated: Stated, *, without: Collection[str]
) -> list[Stated]:
    """The strips of the passage next to a sentence and the one that holds it, in order, WORDS at
    most; what follows it comes before what precedes it.

    Ends at orders to a model, at texts of `without`, and where another code of the same kind as one
    that the question names begins: what is told stands together in the document.
    """
    text = candidate.chunk.text
    strips = strips_of(text, [])
    at = next(n for n, strip in enumerate(strips) if strip.start <= stated.start < strip.end)
    first = last = at
    asked = literals(question)
    if _names_another(text[strips[at].start : strips[at].end], asked):
        return [stated]
    words = _words(text, strips[at])
    for step in (1, -1):
        n = at + step
        while 0 <= n < len(strips):
            said = text[strips[n].start : strips[n].end]
            words += _words(text, strips[n])
            ends = said in without or is_instruction(said) or _names_another(said, asked)
            if ends or words > WORDS:
                break
            first, last = min(first, n), max(last, n)
            n += step
    return [Stated(s.start, s.end, stated.probability) for s in strips[first : last + 1]]


def _names_another(said: str, asked: Collection[str]) -> bool:
    """E-4107 where E-4101 is asked for."""
    kinds = {_kind(one) for one in asked}
    known = {one.casefold() for one in asked}
    return any(_kind(one) in kinds and one.casefold() not in known for one in literals(said))


def _kind(literal: str) -> str:
    return re.sub(r"\d+", "0", literal.casefold())


def _words(text: str, strip: Stated) -> int:
    return len(text[strip.start : strip.end].split())
