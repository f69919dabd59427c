"""Tells what stands around a sentence: rules, steps and reasons seldom are one sentence."""

import re
from collections.abc import Callable, Collection

from ingest.documents import Candidate
from ingest.sentences import asks, sentence_spans
from nodes.answer_type import expected_type
from nodes.findings import Stated
from nodes.instructions import is_instruction
from nodes.strips import strips_of
from nodes.words import literals

WORDS = 120
"""Told of one passage, at most: about what fits on a screen of a phone."""

_SEVERAL = re.compile(
    r"\b(?:rules?|conditions|happens?|what (?:must|should|do|has|have|are|was|were|can|helps?)"
    r"|which \w+(?<![sui])s|how (?:do|does|can|must|should|is|are|to)|steps?"
    r"|was (?:ist|soll|muss|tun|passiert|gilt)"
    r"|welche (?:\w+e[lr]?n|schritte|gründe)"
    r"|wie (?:wird|werden|soll|muss|kann|ist|läuft|laufen)"
    r"|qu[eé] (?:debo|hay|pasa|pasos|hago|reglas|condiciones)|cu[aá]les)\b",
    re.IGNORECASE,
)
"""`Welche Farbe` asks for one thing, `welche Regeln` for several: in German the noun tells."""


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

    Ends at questions, at orders to a model, at texts of `without`, and where another code of the
    same kind as one that the question names begins: what is told stands together in the document.
    """
    text, asked = candidate.chunk.text, literals(question)

    def ends(start: int, end: int) -> bool:
        said = text[start:end]
        wrong = any(one in said for one in without)
        return wrong or asks(said) or is_instruction(said) or _names_another(said, asked)

    strips = _between(text, *_open(text, stated, ends))
    at = next(n for n, strip in enumerate(strips) if strip.start <= stated.start < strip.end)
    if ends(strips[at].start, strips[at].end):
        return [stated]
    first = last = at
    words = _words(text, strips[at])
    for step in (1, -1):
        n = at + step
        while 0 <= n < len(strips):
            words += _words(text, strips[n])
            if words > WORDS or ends(strips[n].start, strips[n].end):
                break
            first, last = min(first, n), max(last, n)
            n += step
    return [Stated(s.start, s.end, stated.probability) for s in strips[first : last + 1]]


def _open(text: str, stated: Stated, ends: Callable[[int, int], bool]) -> tuple[int, int]:
    """From where to where no sentence around this one ends what may be told: an order may stand in
    the same strip."""
    spans = sentence_spans(text)
    first = last = next(n for n, (_, end) in enumerate(spans) if stated.start < end)
    while first > 0 and not ends(*spans[first - 1]):
        first -= 1
    while last + 1 < len(spans) and not ends(*spans[last + 1]):
        last += 1
    return spans[first][0], spans[last][1]


def _between(text: str, start: int, stop: int) -> list[Stated]:
    """The strips of the text, without the sentences of them that stand outside."""
    inside = [(max(s.start, start), min(s.end, stop)) for s in strips_of(text, [])]
    return [Stated(begin, end, 0.0) for begin, end in inside if begin < end]


def _names_another(said: str, asked: Collection[str]) -> bool:
    """E-4107 where E-4101 is asked for."""
    kinds = {_kind(one) for one in asked}
    known = {one.casefold() for one in asked}
    return any(_kind(one) in kinds and one.casefold() not in known for one in literals(said))


def _kind(literal: str) -> str:
    return re.sub(r"\d+", "0", literal.casefold())


def _words(text: str, strip: Stated) -> int:
    return len(text[strip.start : strip.end].split())
