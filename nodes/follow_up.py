"""A follow-up question and what it takes over from the turns before it, by rules."""

import re
from collections.abc import Sequence

from nodes.state import Turn
from nodes.words import content_words, guess_language, literals, stem

FOLLOW_UP = re.compile(
    r"^\W*(?:and|but|so|then|also|what about|how about|und|aber|dann|auch|was ist mit"
    r"|y|pero|también)\b"
    r"|\b(?:it|its|they|them|their|that|this|those|these|there|he|she|him|her|one|ones|same"
    r"|er|sie|dies\w*|(?-i:das(?! [A-ZÄÖÜ]))|dort|dafür|davon|damit|eso|esto|ese|esa|ellos|allí)\b",
    re.IGNORECASE,
)
SHORT = 3
"""Content words; a question with fewer leans on what was said before. On the tuning half of MTRAG
one or two words more took over words of another subject as often as of the same."""

ELLIPSIS = re.compile(
    r"^\W*(?:(?:and|but|und|aber|y|pero)\s+)?(?:(?P<about>what about|how about|was ist mit"
    r"|wie ist es mit|qué hay de)\s+)?(?:(?P<preposition>for|in|at|on|from|with|within|under|after"
    r"|before|without|outside|für|bei|mit|aus|nach|ab|auf|ohne|im|para|en|con|desde|por|sin)\s+)?"
    r"(?P<rest>[^\s?!.,;:()][^?!,;:()]*?)[?!.\s]*$",
    re.IGNORECASE,
)
"""`And for subscriptions?`: the question before it, asked of something else."""

NOT_ALONE = re.compile(
    r"\b(?:who\w*|what|when|where|which|why|how|is|are|was|were|do|does|did|has|have|had|can|could"
    r"|may|must|should|will|would|the|it|its|they|them|that|this|those|these|there|one|ones|same"
    r"|wer|wem|wann|wo|welche\w*|warum|wie|ist|sind|hat|haben|kann|können|darf|muss|soll\w*|wird"
    r"|der|die|das|dies\w*|dann|dort|qui[eé]n\w*|qué|cu[aá]nd?t?\w*|dónde|cuál\w*|cómo|es|son|puede\w*"
    r"|el|la|los|las|eso|esto|ese|esa)\b",
    re.IGNORECASE,
)
"""What asks for itself, or points back, is no other thing to ask the earlier question of."""

DETERMINER = re.compile(r"^(?:the|der|die|das|dem|den|el|la|los|las) ", re.IGNORECASE)
ELLIPTICAL_WORDS = 5
FOR = {"en": "for", "de": "für", "es": "para"}

REACH = 6
"""Turns that a chain of follow-ups reaches back."""

MAX_TERMS = 5
"""Words taken over from the conversation: more would drown the question."""

FADING = 0.6
"""What a word of one turn earlier weighs; from .3 to .8 the tuning half showed no difference."""

NAMED = re.compile(r"(?<=[\w,;] )[A-ZÄÖÜ][\w'-]+")
"""Capitalised within a sentence."""


def stand_alone(question: str, history: Sequence[Turn]) -> str:
    """An elliptical question asks the one before it of something else; another that leans on the
    history gets its words; any other is itself."""
    said = history[-REACH:]
    if not said or not leans_on_history(question):
        return question
    found = _asked_of(question, said)
    if found:
        return found
    terms = terms_for(question, said)
    return f"{question} ({' '.join(terms)})" if terms else question


def leans_on_history(question: str) -> bool:
    return bool(FOLLOW_UP.search(question)) or len(content_words(question)) < SHORT


def _asked_of(question: str, history: Sequence[Turn]) -> str:
    """`How long do refunds take for subscriptions?`; empty where the question is not elliptical."""
    match = ELLIPSIS.match(question)
    if match is None or not FOLLOW_UP.match(question):
        return ""
    rest = match["rest"].strip()
    # "And the cost?" asks for something new of the same thing, "and for the cloud?" does not.
    if NOT_ALONE.search(DETERMINER.sub("", rest) if match["preposition"] else rest):
        return ""
    if len(rest.split()) > ELLIPTICAL_WORDS or not (content_words(rest) or literals(rest)):
        return ""
    earlier = history[-1].question.strip()
    if FOLLOW_UP.search(earlier):
        earlier = stand_alone(earlier, history[:-1])
    earlier = earlier.rstrip("?!. ")
    if not content_words(earlier) or earlier.endswith(")"):
        return ""
    instead = _instead(earlier, rest, match["preposition"])
    if instead:
        return f"{instead}?"
    preposition = match["preposition"] or FOR[guess_language(earlier)]
    return f"{_without(earlier, preposition)} {preposition.lower()} {rest}?"


def _instead(earlier: str, rest: str, preposition: str | None) -> str:
    """With `rest` in the place of its counterpart: `Team customers` of `Plant customers`, `Leipzig`
    of `Columbus`; empty where there is none, or more than one."""
    *modifiers, head = map(re.escape, rest.split())
    if modifiers:
        like = rf"\b(?:[\w-]+\s+){{{len(modifiers)}}}{head}\b"
    elif rest[0].isupper():
        before = preposition or "for|in|at|on|für|bei|para|en"
        like = rf"\b(?:{before})\s+(?P<name>[A-ZÄÖÜ][\w-]+)"
    else:
        return ""
    found = list(re.finditer(like, earlier))
    place = "name" if not modifiers else 0
    if len(found) != 1 or len(content_words(found[0][place])) <= len(modifiers):
        return ""
    return f"{earlier[: found[0].start(place)]}{rest}{earlier[found[0].end(place) :]}"


def _without(earlier: str, preposition: str) -> str:
    """Without the thing it was asked of, where the same preposition names it at the end."""
    named = re.search(rf"\s+{preposition}\s+(?:\S+\s+){{0,3}}\S+$", earlier, re.IGNORECASE)
    return earlier[: named.start()] if named else earlier


def terms_for(question: str, history: Sequence[Turn]) -> list[str]:
    """The words of earlier questions that weigh most, as far back as questions lean on others.

    The newest weigh most; those that the answer took up, and names and codes, half as much again.
    """
    said = {stem(word, guess_language(question)) for word in content_words(question)}
    weights: dict[str, float] = {}
    for back, turn in enumerate(reversed(history)):
        language = guess_language(turn.question)
        spelled = {one.lower(): one for one in literals(turn.question)}
        named = {name.lower() for name in NAMED.findall(turn.question)} | spelled.keys()
        told = {stem(word, language) for word in content_words(turn.answer)}
        plain = [w for w in content_words(turn.question) if not any(w in one for one in spelled)]
        for word in dict.fromkeys([*spelled, *plain]):
            if stem(word, language) not in said:
                weight = 1 + 0.5 * (stem(word, language) in told) + 0.5 * (word in named)
                shown = spelled.get(word, word)
                weights[shown] = weights.get(shown, 0.0) + FADING**back * weight
        if not leans_on_history(turn.question):
            break
    best = sorted(weights, key=lambda word: -weights[word])[:MAX_TERMS]
    return [word for word in weights if word in best]
