"""Whether what a question names stands anywhere in what was found."""

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.documents import Candidate
from nodes.words import ALL_STOP_WORDS, guess_language, literals, stem, words

ALIKE = 0.8
"""Likeness of two words, in [0, 1], from which one may be the other misspelt (Ratcliff and
Obershelp's, as difflib counts it); "Quendral" and "Quendrel" have .88."""

SHORTEST = 4
"""Letters from which a name may stand within a longer word: `Leipzig` in `Leipziger`."""

_QUOTED = re.compile(r"[\"“„«](?P<name>[^\"“”„«»?]{2,40})[\"”“»]")
_CAPITAL = re.compile(r"(?<![\w'’])[A-ZÀ-Þ][^\W_]*(?:[-'’&][^\W_]+)*")
_SMALL = re.compile(r"(?<![\w'’-])[^\W\d_A-ZÀ-Þ][^\W\d_]*")
_NO_NAME = re.compile(
    r"(?:I|I['’]\w+|(?:Jan|Febr)uary|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tags?"
    r"|Mittwochs?|Celsius|Fahrenheit|Kelvin|[^a-z]+)"
)
"""Days, months and degrees; what is in capitals alone may be written out in the documents."""

_CODE = re.compile(r"[A-Za-z][^\W_]*[-]?\w*\d\w*|\w*[^\W_]_[^\W_]\w*")
_OPENS = re.compile(r"(?:^|(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!Prof)[.!?:;]\s)\W*$")


def named(question: str) -> list[str]:
    """Names, quoted words and codes of a question. A capital tells a name within a sentence, but
    in German, and in a question whose other words have capitals, too."""
    quoted = [match["name"].strip() for match in _QUOTED.finditer(question)]
    codes = [one for one in literals(question) if _CODE.fullmatch(one)]
    return list(dict.fromkeys([*quoted, *codes, *_capitals(_QUOTED.sub(" ", question))]))


def nowhere(question: str, candidates: Sequence[Candidate]) -> list[str]:
    """What the question names and no candidate has, in its text, its headings or its path, not
    misspelt either: what was found then is of other things of that kind."""
    asked = named(question)
    if not asked or not candidates:
        return []
    found = _Found(" ".join(_text(candidate) for candidate in candidates))
    return [name for name in asked if not found.has(name)]


def _capitals(question: str) -> Iterator[str]:
    found = [m for m in _CAPITAL.finditer(question) if not _OPENS.search(question[: m.start()])]
    if guess_language(question) == "de":
        yield from _in_apposition(question)
    elif not any(m.group().lower() in ALL_STOP_WORDS and m.group() != "I" for m in found):
        yield from _runs(question, [m for m in found if not _NO_NAME.fullmatch(m.group())])


def _in_apposition(question: str) -> Iterator[str]:
    """German writes every noun with a capital: of two in a row the second names the first, as in
    `Hütte Dachs` and `Jana Vogel`; but not in `Fords Werke`."""
    found = list(_CAPITAL.finditer(question))
    for first, second in pairwise(found):
        alone = not _OPENS.search(question[: first.start()])
        in_a_row = question[first.end() : second.start()] == " " and second.group().isalpha()
        if _NO_NAME.fullmatch(first.group()) or _NO_NAME.fullmatch(second.group()):
            continue
        if alone and in_a_row and not first.group().endswith("s"):
            yield second.group()


def _runs(question: str, found: Sequence[re.Match[str]]) -> Iterator[str]:
    """Words with a capital that stand in a row are one name."""
    run: list[re.Match[str]] = []
    for match in found:
        if run and question[run[-1].end() : match.start()] != " ":
            yield " ".join(m.group() for m in run)
            run = []
        run.append(match)
    if run:
        yield " ".join(m.group() for m in run)


def _text(candidate: Candidate) -> str:
    chunk = candidate.chunk
    source = chunk.metadata.get("source", "")
    return f"{chunk.title}. {chunk.heading}. {source}. {chunk.text}"


class _Found:
    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = text.casefold()
        tokens = words(text)
        self._joined = {first + second for first, second in pairwise(tokens)}
        self._words = set(tokens)
        small = set(_SMALL.findall(text))
        self._names = {word.lower() for word in _CAPITAL.findall(text)} - small
        self._stems = {stem(word) for word in self._words}

    def has(self, name: str) -> bool:
        """As it is, misspelt but for an ordinary word, joined otherwise (`WiFi`), or cut to one of
        its words."""
        joined = re.sub(r"[\W_]", "", name.casefold())
        whole = rf"(?<![\w\-]){re.escape(name.casefold())}(?!\w)"
        if re.search(whole, self._folded) or joined in self._joined | self._words:
            return True
        if _CODE.fullmatch(name):
            return False
        parts = [word for word in words(name) if word not in ALL_STOP_WORDS]
        known = [word for word in parts if self._is_known(word)]
        return parts[-1:] == known[-1:] or any(self._stands_alone(word, parts) for word in known)

    def _stands_alone(self, word: str, name: Sequence[str]) -> bool:
        """Whether it stands there without another name after it: Ana Ruiz is not Ana Perez."""
        after = re.compile(rf"\b{re.escape(word)}\b(?:['’]s)?(?P<next> [^\W\d_]+)?", re.IGNORECASE)
        following = [(found["next"] or "").strip() for found in after.finditer(self._text)]
        return not following or any(
            not one[:1].isupper() or one.casefold() in name for one in following
        )

    def _is_known(self, word: str) -> bool:
        if word in self._words or stem(word) in self._stems:
            return True
        if len(word) < SHORTEST:
            return False
        alike = [w for w in self._names if w[0] == word[0] and abs(len(w) - len(word)) <= 2]
        near = difflib.get_close_matches(word, alike, n=1, cutoff=ALIKE)
        return bool(near) or any(one.startswith(word) for one in self._words)
