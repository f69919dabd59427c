"""What a question asks, in a form that only its wording cannot change."""

import re
import unicodedata
from functools import lru_cache

from nodes.question_wording import (
    ASKS,
    ASKS_OBJECT,
    AUXILIARIES,
    BEFORE_ASKS,
    CONTRACTIONS,
    DO,
    EMPTY,
    GERMAN_HOW,
    OPENING,
    PASTS,
    PHRASES,
    SAME_ASKS,
    SYNONYMS,
    YES_NO,
)
from nodes.words import ALL_STOP_WORDS, guess_language

TOKEN = re.compile(r"'s\b|(?<!\S)\.[^\W_]+|[^\W_]+(?:[._:/,\-][^\W_]+)*|[^\s\w]|_")
MARKS = frozenset("?!.,;:\"'()[]{}…„“”‘’«»–—")
"""Marks that change no question; a sign such as €, %, + or - may."""

ACRONYM = re.compile(r"\b[A-Z]{2,}\b|(?<=\s)A\b")


def normalised(question: str) -> str:
    """Without what no reader tells apart: case, blanks, marks at the end. An acronym that would
    be another word in small letters (IT, US) keeps its own."""
    text = unicodedata.normalize("NFC", question).replace("’", "'").replace("‘", "'")
    text = " ".join(text.split()).rstrip(" ?!.…")
    if text.isupper():
        return text.lower()
    parts, end = [], 0
    for found in ACRONYM.finditer(text):
        if found.group().lower() in ALL_STOP_WORDS:
            parts += [text[end : found.start()].lower(), found.group()]
            end = found.end()
    return "".join([*parts, text[end:].lower()])


@lru_cache(maxsize=1_024)
def meaning(question: str) -> str:
    """What it asks for, then each word that could make it another question, in order: two
    questions with one meaning differ in openings, articles, inflections and synonyms alone.

    Every other word counts: a negation, number, unit, name, direction, bound or role that is not
    the same is another meaning, and so is another order of the same words.
    """
    text = normalised(question)
    language = guess_language(text)
    for pattern, instead in CONTRACTIONS:
        text = pattern.sub(instead, text)
    opening = OPENING.match(text)
    text = text[opening.end() :] if opening else text
    for pattern, instead in PHRASES:
        text = pattern.sub(instead, text)
    text = _verb_last(text) if language == "de" else text
    asks, rest = _asked(text, language)
    if opening and opening["whether"] and not asks:
        asks, rest = "whether", text
    words = [_plain(token, language) for token in _turned(rest)]
    words = [word for word in words if word and word not in EMPTY.get(language, ())]
    pasts = PASTS.get(language, frozenset())
    past = any(word in pasts for word in words)
    words = [word for word in words if word not in pasts]
    words.sort(key=lambda word: word not in AUXILIARIES)
    asked = f"{asks or 'what'}{' then' if past else ''}"
    return "|".join([language, asked, *words]) if words else f"{language}|{normalised(question)}"


def _verb_last(text: str) -> str:
    found = GERMAN_HOW.match(text)
    if found is None:
        return text
    verb, rest, particle = found["verb"], found["rest"], found["particle"] or ""
    if verb in ("kann", "können", "soll", "sollen"):
        return f"wie {rest} {particle}".strip()
    return f"wie {rest} {particle}{verb}"


def _asked(text: str, language: str) -> tuple[str, str]:
    """The question word with its preposition, and the words of the question without it; what is
    set before it is read after it."""
    if ASKS_OBJECT.match(text):
        return "whom", ASKS_OBJECT.sub("", text, count=1)
    first = text.split(" ", 1)[0]
    if first in YES_NO.get(language, ()):
        # The auxiliary stays: whether one can and whether one must are two questions.
        return "whether", text
    found = ASKS.search(text)
    if found is None:
        return "", text
    asks = SAME_ASKS.get(found.group(), found.group())
    before, after = text[: found.start()].strip(), text[found.end() :]
    if not before:
        return asks, after
    if before in BEFORE_ASKS:
        return f"{before} {asks}", after
    fronted = before.split(" ", 1)[0] in BEFORE_ASKS and before.endswith(",")
    return (asks, f"{after} {before}") if fronted else ("", text)


def _turned(rest: str) -> list[str]:
    """The tokens in order; those of "is the A of B" as those of "is B 's A"."""
    tokens = [token for token in TOKEN.findall(rest) if token not in MARKS]
    tokens = tokens[1:] if tokens[:1] and tokens[0] in DO else tokens
    if tokens.count("of") != 1 or tokens[:2] not in (["is", "the"], ["are", "the"]):
        return tokens
    link = tokens.index("of")
    return [*tokens[link + 1 :], "'s", *tokens[2:link]]


def _plain(token: str, language: str) -> str:
    """Without the endings of number, and of German cases and verbs; a synonym's common word."""
    token = SYNONYMS.get(token, token)
    if any(c.isdigit() for c in token) or not token.islower() or token in EMPTY.get(language, ()):
        return token
    bare = BARE[language](token) if language in BARE else token
    return SYNONYMS.get(bare, bare)


def _english(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zes")) else word[:-1]


def _german(word: str) -> str:
    """Only what bends a word: never -er or -in, which make another person of it."""
    for ending in ("en", "es", "et", "n", "e", "s", "t"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


BARE = {"en": _english, "de": _german}
