"""How sure a run may be of its draft: the signs of it, and what is enough."""

import math
import re

from nodes.context import Context
from nodes.findings import Grade
from nodes.state import State
from nodes.words import content_words, guess_language, literals, stem

_NUMBER = re.compile(r"\d{1,3}(?:[ \u00a0]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,\u2009\u202f]\d+)*")
_PARTS = re.compile(r"[.,\s]")
_AMOUNT = re.compile(r"\d{1,3}(?:\.\d{3})+")
_UNIT = re.compile(r"[ \u00a0-]([^\W\d_]{3,})")
_NO_CENTS = re.compile(r"(?<=\d)[.,]0{1,2}$")

SURE = 6.0
"""Log odds at which a grade is cut: .9975."""

ALONE = -3.6
"""Of `rest` where no other passage was graded: about the mean of the tuning runs."""

NAMES = ("best", "rest", "covered", "missing")


def confidence_signs(state: State) -> dict[str, float]:
    """A value for each of NAMES, of a run that has a draft. Web pages are held against web pages.

    best: log odds of the best grade. rest: mean log odds of all other passages that were graded,
    but the one that the draft begins with; where many are near, the answer is less often in one.
    covered: share of the question's words in the draft. missing: 1 where the question names a code
    or a number that no passage of the draft has, and that counts nothing which it counts, too: rows
    of other codes are near, and answer another question.
    """
    first = next((c.chunk_id for sentence in state.draft for c in sentence.citations), "")
    pages = {c.chunk.chunk_id for c in state.candidates if c.url is not None}
    graded = {
        name: log_odds(grade)
        for name, grade in state.graded.items()
        if first not in pages or name in pages
    }
    others = [odds for name, odds in graded.items() if name != first]
    return {
        "best": max(graded.values(), default=-SURE),
        "rest": sum(others) / len(others) if others else ALONE,
        "covered": _covered(state),
        "missing": float(_missing(state)),
    }


def too_unsure(state: State, context: Context) -> bool:
    """Whether the draft is too improbable to be told, whatever its grounding is."""
    return state.confidence is not None and state.confidence < context.min_confidence


def support_needed(state: State, context: Context) -> float:
    """What the support of each sentence has to be, in [0, 1], so that the confidence, which is the
    product of both, is not below the bar; above 1 where none is enough."""
    if state.confidence is None or context.min_confidence == 0:
        return 0.0
    return context.min_confidence / state.confidence if state.confidence > 0 else math.inf


def log_odds(grade: Grade) -> float:
    """Of its probability, within SURE; 0 where there is none."""
    if grade.probability is None:
        return 0.0
    inside = min(max(grade.probability, 1e-9), 1 - 1e-9)
    return max(-SURE, min(SURE, math.log(inside / (1 - inside))))


def _covered(state: State) -> float:
    language = guess_language(state.standalone)
    asked = {stem(word, language) for word in content_words(state.standalone)}
    told = {
        stem(word, language) for sentence in state.draft for word in content_words(sentence.text)
    }
    return len(asked & told) / len(asked) if asked else 0.0


def _missing(state: State) -> bool:
    cited = {c.chunk_id for sentence in state.draft for c in sentence.citations}
    chunks = [e.candidate.chunk for e in state.evidence if e.candidate.chunk.chunk_id in cited]
    if not chunks:
        return False
    text = " ".join(f"{x.title} {x.heading} {x.text}" for x in chunks).casefold()
    codes = [code.casefold() for code in literals(state.standalone) if not _AMOUNT.fullmatch(code)]
    if any(code not in text for code in codes):
        return True
    language = guess_language(state.standalone)
    stated, units = _numbers(text), {unit for _, unit in _counted(text, language)}
    return any(
        number not in stated and (not unit or unit not in units)
        for number, unit in _counted(state.standalone, language)
    )


def _counted(text: str, language: str) -> list[tuple[str, str]]:
    """Each number with the stem of the word that follows it, or nothing: 20 people are not missing
    where a passage says what holds from 12 people on."""
    found = []
    for number in _NUMBER.finditer(text):
        word = _UNIT.match(text, number.end())
        found.append((_plain(number.group()), stem(word[1].casefold(), language) if word else ""))
    return found


def _numbers(text: str) -> set[str]:
    return {_plain(number) for number in _NUMBER.findall(text)}


def _plain(number: str) -> str:
    """Without what parts its digits, and without cents that are none: 1.500,00 is 1500."""
    return _PARTS.sub("", _NO_CENTS.sub("", number))
