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
    EMPTY,
    GERMAN_HOW,
    NOUN_LINKS,
    OPENING,
    PASTS,
    PHRASES,
    SAME_ASKS,
    SYNONYMS,
    YES_NO,
)
from nodes.words import ALL_STOP_WORDS, guess_language

TOKEN = re.compile(r"[^\W_]+(?:[._:/,\-][^\W_]+)*|[^\s\w]|_")
MARKS = frozenset("?!.,;:\"'()[]{}…„“”‘’«»–—")
"""Marks that change no question; a sign such as €, %, + or - may."""

ACRONYM = re.compile(r"\b[A-Z]{2,}\b")


def normalised(question: str) -> str:
    """Without what no reader tells apart: case, blanks, marks at the end. An acronym that would
    be another word in small letters (IT, US) keeps its own."""
    text = unicodedata.normalize("NFC", question).replace("’", "'").replace("‘", "'")
    text = " ".join(text.split()).rstrip(" ?!.…")
    if text.isupper():
        return text.lower()
    kept = {m.start() for m in ACRONYM.finditer(text) if m.group().lower() in ALL_STOP_WORDS}
    spans = [(m.start(), m.end()) for m in ACRONYM.finditer(text) if m.start() in kept]
    parts, end = [], 0
    for start, stop in spans:
        parts += [text[end:start].lower(), text[start:stop]]
        end = stop
    return "".join([*parts, text[end:].lower()])


@lru_cache(maxsize=4_096)
def meaning(question: str) -> str:
    """What it asks for, then each word that could make it another question, in order: two
    questions with one meaning differ in openings, articles, inflections and synonyms alone.

    Every other word counts: a negation, number, unit, name, direction, bound or role that is not
    the same is another meaning, and so is another order of the same words.
    """
    text = normalised(question)
    language = "de" if guess_language(text) == "de" else "en"
    for pattern, instead in CONTRACTIONS:
        text = pattern.sub(instead, text)
    opening = OPENING.match(text)
    text = text[opening.end() :] if opening else text
    for pattern, instead in PHRASES:
        text = pattern.sub(instead, text)
    text = _verb_last(text) if language == "de" else text
    asks, rest = _asked(text)
    if opening and opening["whether"] and not asks:
        asks, rest = "whether", text
    words = [_plain(token, language) for token in _turned(asks, rest)]
    words = [word for word in words if word and word not in EMPTY[language]]
    past = any(word in PASTS for word in words)
    words = [word for word in words if word not in PASTS]
    words.sort(key=lambda word: word not in AUXILIARIES)
    if asks in ("what", "how much") and words and (words[-1] == "price" or "kostet" in words):
        asks, words = "price", [word for word in words if word not in ("price", "kostet")]
    elif asks == "how much" and words.count("price") == 1:
        asks, words = "price", [word for word in words if word != "price"]
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


def _asked(text: str) -> tuple[str, str]:
    """The question word with its preposition, and the words of the question without it; what is
    set before it is read after it."""
    if ASKS_OBJECT.match(text):
        return "whom", ASKS_OBJECT.sub("", text, count=1)
    first = text.split(" ", 1)[0]
    if first in YES_NO:
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


def _turned(asks: str, rest: str) -> list[str]:
    """The tokens in order; a noun phrase after "what is" is turned at its links."""
    tokens = [token for token in TOKEN.findall(rest) if token not in MARKS]
    copula = tokens[:1] and tokens[0] in ("is", "are", "was", "were")
    if asks not in ("what", "who", "") or (asks and not copula):
        return tokens
    begin = 1 if copula else 0
    parts: list[list[str]] = [[]]
    for token in tokens[begin:]:
        if token in NOUN_LINKS:
            parts.append([])
        else:
            parts[-1].append(token)
    if not all(parts):
        return tokens
    return tokens[:begin] + [token for part in reversed(parts) for token in part]


def _plain(token: str, language: str) -> str:
    """Without the endings of number, and of German cases and verbs; a synonym's common word."""
    token = SYNONYMS.get(token, token)
    if any(c.isdigit() for c in token) or not token.islower() or token in EMPTY[language]:
        return token
    bare = _german(token) if language == "de" else _english(token)
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
