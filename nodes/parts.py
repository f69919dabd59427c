"""A question with several parts: each is graded and answered for itself, or named as not found."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from nodes.answer_type import expected_type, holds_type
from nodes.answer_words import NEEDS_ITS_KIND
from nodes.findings import Evidence, Sentence
from nodes.follow_up import NAMED, terms_for
from nodes.state import Query, Turn
from nodes.words import content_words, guess_language, literals, stem, stems, words

SEVERAL = re.compile(
    r"\?.*\w.*\?|\b(?:and|und|y)\b[^?]*\b(?:who|what|when|where|which|why|how|wer|was|wann|wo"
    r"|welche\w*|warum|wie|quién|qué|cuándo|dónde|cuál|cómo)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A question that seems to ask several things."""

_QUESTION = re.compile(r"[^?\s][^?]*")
_AND = re.compile(
    r"[,;]?\s+(?:and|und|y)\s+(?=(?:who|what|when|where|which|why|how|wer|wann|wo|welche\w*"
    r"|warum|wie|quién|qué|cuándo|dónde|cuál|cómo)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:(?:for|in|at|by|to|from|on|within|bis|für|ab|seit|a|en|por|para|de) )?(?:who\w*"
    r"|what|when|where|which|why|how|is|are|can|may|must|do|does|did|wer|wem|was|wann|wo\w*|welche\w*"
    r"|warum|wie|quién\w*|qué|cuándo|dónde|cuál\w*|cómo|cuánt\w+)\b",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|there|then|he|she|his|her|one|ones|such"
    r"|es|sie|ihn|ihm|ihr\w*|dies\w*|dort|dann|davon|dafür|dabei|solche\w*|ello|ellos|eso|esto|allí|su|sus)\b",
    re.IGNORECASE,
)
"""Words by which a part leans on the first: alone it would ask something else."""

_KNOWN = re.compile(
    r"\b(?:is|are|was|were|ist|sind|war|lautet|es|son)\s+(?:the|der|die|das|el|la|los|las)"
    r"\s+[^\W\d_]+(?:\s+[^\W\d_]+)?\W*$",
    re.IGNORECASE,
)
"""A part that asks for a thing as if it were known whose: `and what is the phone number?`."""

_VERB = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|must|should|will|would|ist|sind"
    r"|war\w*|hat|haben|kann|können|darf|dürfen|muss|müssen|soll\w*|wird|werden|gibt|gilt|es|son|está"
    r"|están|hay|tiene\w*|puede\w*|debe\w*"
    r"|dauer(?:t|n)|kostet|beträgt|betragen|bekomm(?:e|t|en)|erhält|liegt|beginnt|endet|öffnet"
    r"|schließt|heißt|brauch(?:e|t|en)|zahlt|läuft|wiegt|findet"
    r"|cuestan?|duran?|abren?|cierran?|empiezan?|terminan?|recib\w+|pagan?)\b",
    re.IGNORECASE,
)
"""Without one a clause is short for something: `and which version?`."""

_WHO_DOES = re.compile(r"^\W*(?:who|wer|qui[eé]n)\s+\w+", re.IGNORECASE)
"""After it any word is a verb."""

_OPENING = re.compile(r"^\W*(?:and|und|y)\s+", re.IGNORECASE)

MOST = 3
WORDS = 2
"""Content words that a clause after "and" needs in order to be searched alone."""

COVERED = 0.75
"""Share of a part's words from which a sentence told for another part answers it, too."""


def split(question: str) -> list[str]:
    """The two or three questions it is made of, by rules; none where one does not stand alone.

    A later part that leans on the first gets its words: `who approves it? (refunds)`.
    """
    found: list[str] = []
    for asked in _QUESTION.findall(question):
        clauses = [clause.strip(" ,;.") for clause in _AND.split(asked)]
        read = [_standing(clause, [*found, *clauses[:n]]) for n, clause in enumerate(clauses)]
        whole = all(
            len(content_words(one)) >= (WORDS if n else 1)
            and (_VERB.search(one) or _WHO_DOES.search(one))
            for n, one in enumerate(read)
        )
        together = asked.strip(" ,;.")
        found += read if whole and all(map(_ASKS.search, clauses)) else [_standing(together, found)]
    alone = all(_ASKS.search(_OPENING.sub("", part)) and content_words(part) for part in found)
    leans = bool(found) and _LEANS.search(found[0])
    return (
        [_asked(part) for part in found] if 1 < len(found) <= MOST and alone and not leans else []
    )


def _standing(part: str, before: Sequence[str]) -> str:
    """With the words of the first part in brackets where it leans on them."""
    if not before or not (words_of := _taken_over(part, before[0])):
        return part
    return f"{_OPENING.sub('', part)} ({' '.join(words_of)})"


def _taken_over(part: str, first: str) -> list[str]:
    """All that the first part is about for a pronoun and for a thing of one word; for one of two
    words, which may well stand for itself, the names alone."""
    terms = terms_for(part, [Turn(first, "")])
    if _LEANS.search(part):
        return terms
    known = _KNOWN.search(part)
    german = guess_language(part) == "de"  # which writes every noun as a name
    if known is None or literals(part) or (NAMED.search(part) and not german):
        return []
    if len(content_words(part)) < WORDS:
        return terms
    named = {name.lower() for name in [*NAMED.findall(first), *literals(first)]}
    return [term for term in terms if term.lower() in named]


def _asked(part: str) -> str:
    """With its question mark, before what it took over."""
    question, bracket, rest = part.partition(" (")
    return f"{question}? ({rest}" if bracket and part.endswith(")") else f"{part}?"


def parts_of(queries: Sequence[Query]) -> list[str]:
    """The parts that were planned, or the hops; none where the question asks one thing."""
    return [query.text for query in queries if query.technique in ("part", "hop")]


def hops_of(queries: Sequence[Query]) -> list[str]:
    """The parts that name what the question does not: the answers of those before them."""
    return [query.text for query in queries if query.technique == "hop"]


def for_part(evidence: Iterable[Evidence], part: str) -> list[Evidence]:
    """What was found for a part, with the grade for it; for no part everything as it is."""
    if not part:
        return list(evidence)
    found = [replace(one, grade=one.parts[part]) for one in evidence if part in one.parts]
    return sorted(found, key=lambda one: -(one.grade.probability or 0.0))


def covers(sentence: Sentence, part: str) -> bool:
    """Whether a sentence that was told for another part answers this one, too: with its headings it
    holds the words of the part, and a time or an amount where that is asked for."""
    language = guess_language(part)
    placed = " ".join([sentence.text, *(f"{c.title} {c.heading}" for c in sentence.citations)])
    asked, said = set(stems(part, language)), {stem(word, language) for word in words(placed)}
    enough = len(asked & said) >= COVERED * len(asked)
    kind = expected_type(part)
    holds = kind not in NEEDS_ITS_KIND or holds_type(sentence.text, kind, part)
    return bool(asked) and enough and holds


def unanswered(queries: Sequence[Query], told: Iterable[Sentence]) -> list[str]:
    """The parts that no sentence answers."""
    answered = {part for sentence in told for part in sentence.parts}
    return [part for part in parts_of(queries) if part not in answered]
