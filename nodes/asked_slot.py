"""Whether a sentence speaks of the same matter of another thing: `the induction for the kiln`."""

import re

from nodes.words import ALL_STOP_WORDS, stem

_SLOT = re.compile(
    r"(?P<head>[^\W\d_]{3,})\s+(?P<link>for|of|on|with|für|von|im|de|para)\s+"
    r"(?:(?:the|an?|our|your|this|der|die|das|den|dem|des|eine[nrm]?|el|la|los|las|una?)\s+)?"
    r"(?P<thing>[^\W\d_]{3,}(?:\s+[^\W\d_]{3,})?)",
    re.IGNORECASE,
)

Slots = dict[tuple[str, str], frozenset[str]]


def slots_of(text: str, language: str) -> Slots:
    """The stems of the things by what is said of them: `induction for` of `kiln`."""
    found: Slots = {}
    for match in _SLOT.finditer(text):
        things = {
            stem(word.lower(), language)
            for word in match["thing"].split()
            if word.lower() not in ALL_STOP_WORDS
        }
        if things and match["head"].lower() not in ALL_STOP_WORDS:
            key = stem(match["head"].lower(), language), match["link"].lower()
            found[key] = found.get(key, frozenset()) | things
    return found


def of_another_thing(asked: Slots, sentence: Slots, *, said: set[str], around: set[str]) -> bool:
    """Whether the sentence, with the stems `said`, has another thing in the place of the one that
    is asked about, which the passage, with the stems `around`, does speak of."""
    return any(
        not things & sentence[place] and not things & said and bool(things & around)
        for place, things in asked.items()
        if place in sentence
    )
