"""Whether a sentence says who: a name or a role that the question does not itself name."""

import re

from nodes.answer_words import HOLDS
from nodes.words import ALL_STOP_WORDS, content_words, guess_language, stem, words

_ROLE = re.compile(HOLDS["person"])
_NAMES = re.compile(
    r"@|\b[A-Z]\. ?[A-Z][a-z]+"
    r"|\b(?!(?:D(?:er|ie|as|en|em|es)|(?:Ein|Kein|Jede)\w*|Alle|Am|An|Bei|Für|Im|In|Mit|Nach|Vo[mn]"
    r"|Zu[mr]|The|This|Our|Your|If|When|For|On|At) )"
    r"(?:[A-Z]\. ?)?[A-Z][\w'’\-]+ (?:(?:[A-Z]\.|van|von|de|der|da|del|la|bin) ?)*[A-Z][\w'’\-]+"
)
_PLACE = re.compile(
    r"\b(?:\w+ )?(?:Street|Road|Avenue|Lane|Square|Park|Building|Room|Hall|Bay|Floor|Gate|Bridge"
    r"|Station|River|Lake|\w*[Ss]traße|Platz|Weg|Allee|Gebäude|Raum|Halle|Fach|Stock)\b(?: \w+)?"
    r"|\b(?:Haus|Hütte|Zimmer|Camp|Hotel|Villa) [A-ZÄÖÜ]\w+"
    r"|\b(?:called|named|heißt) [A-ZÄÖÜ][\w\-]+(?: [A-ZÄÖÜ][\w\-]+)*"
)
"""What has a capital and is nobody: a place, and what a thing is called."""

_NAME = re.compile(
    r"(?<=[a-z,] )(?<!\b[Ii]n )(?<!\b[Aa]t )(?!(?:January|February|March|April|May|June|July|August"
    r"|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s?\b)"
    r"[A-Z][a-z]+"
)
"""A name within a sentence; in German any noun would be one."""

_OPENS_WITH_NAME = re.compile(
    r"(?P<name>[A-ZÄÖÜ][a-zäöüß]+(?<!ing)(?<!ion)(?<!ment)(?<!ity)(?<!ung)(?<!s))(?:['’]s)? "
    r"(?!(?:is|was|has|ist|hat|hatte|its|must|just|most)\b)"
    r"(?:[a-zäöüß]+(?:s|ed|t|te)|can|may|will|kann|darf|soll)\b"
    r"(?! (?:are|were|is|was|have|had|must|can|may|will|should|do|did|stay|lie|cost|need"
    r"|werden|wird|sind|bleiben|liegen)\b)"
)
"""`Anna approves it`, `Aristotle provided`; not `Bread is baked`, nor `Oak boards lie`."""

_DETERMINER = re.compile(
    r"\b(?:the|an?|our|your|each|every|der|die|das|ein\w*|unser\w*|jede\w?|el|la|los|las|una?)\s+",
    re.IGNORECASE,
)
_SUBJECT_WORDS = 3
"""Of a subject between its article and its verb, at most."""

_TOKEN = re.compile(r"[\w\-]+")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|stays?|gets?|remains?|w[eiu]rd\w*|w[uo]rden?|ist|sind|war\w*"
    r"|bleib\w*)\b",
    re.IGNORECASE,
)
_WHO_DOES = re.compile(
    r"\b(?:who|wer|qui[eé]n(?:es)?)\s+(?:(?:usually|normally|also|may|can|must|will|should|darf"
    r"|kann|muss|soll)\s+)?(?P<verb>[\w\-]+)",
    re.IGNORECASE,
)


def says_who(sentence: str, question: str = "") -> bool:
    """A role, a name that is no place and not in the question, or the subject that does what is
    asked about: `The miller grinds corn` to `Who grinds the corn?`."""
    rest = _without(_PLACE.sub("x", sentence), question)
    if _ROLE.search(rest) or _does_it(sentence, question):
        return True
    opening = _OPENS_WITH_NAME.match(rest)
    if opening and opening["name"].lower() not in ALL_STOP_WORDS:
        return True
    german = guess_language(sentence) == "de"
    return bool(_NAMES.search(rest)) or (not german and bool(_NAME.search(rest)))


def _without(sentence: str, question: str) -> str:
    """In lower case what the question says itself, and without what it names: who asks for the
    deputy of Tom Baker does not ask for him."""
    said = set(content_words(question))
    named = set(words(" ".join(_NAME.findall(question)))) - ALL_STOP_WORDS
    return re.sub(
        r"[^\W_]+(?:['’-][^\W_]+)*",
        lambda one: (
            "x"
            if named & set(words(one.group()))
            else one.group().lower()
            if said & set(words(one.group()))
            else one.group()
        ),
        sentence,
    )


def _does_it(sentence: str, question: str) -> bool:
    asked = _WHO_DOES.search(question)
    if asked is None or asked["verb"].lower() in ALL_STOP_WORDS:
        return False
    language = guess_language(question)
    verb = stem(asked["verb"].lower(), language)
    for article in _DETERMINER.finditer(sentence):
        following = list(_TOKEN.finditer(sentence, article.end()))[1 : _SUBJECT_WORDS + 1]
        for word in following:
            active = not _PASSIVE.search(sentence[: word.start()])
            if active and stem(word.group().lower(), language) == verb:
                return True
    return False
