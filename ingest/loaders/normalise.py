"""Characters made plain, so that what a reader sees is what is searched, quoted and hashed."""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_LINE_END = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_CONTROL = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # but for tab and what ends a line
INVISIBLE = re.compile(
    f"[{_CONTROL}"
    "\u00ad\u034f\u061c\u180e"  # soft hyphen, joiner, Arabic letter mark, Mongolian separator
    "\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # fillers that are letters and show nothing
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, bidirectional, byte order mark
    "\ud800-\udfff\ufff0-\ufffb\ufffe\uffff"  # lone surrogates, annotations, non-characters
    "\U0001d173-\U0001d17a"  # musical format controls
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags: models read them, people do not see them
    "]"
)
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
"""One variation selector chooses a glyph; a run of them is data that nobody sees."""

_USUAL = "\u00ad\u200c\u200d\ufeff"
"""Soft hyphens, joiners and byte order marks: nobody hides anything by them."""

_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
_WORD = re.compile(f"[^\\W\\d_](?:[^\\W\\d_]|[{_MARKS}])*")
_LOOK_ALIKES = dict(
    zip(
        map(ord, "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"),
        "aeopcyxijshdqwABEKMHOPCTYXIJSoABEZHIKMNOPTYX",
        strict=True,
    )
)
"""Cyrillic and Greek letters that cannot be told from Latin ones by sight (Unicode UTS 39)."""

_LOOKS_LATIN = re.compile(f"[{''.join(map(chr, _LOOK_ALIKES))}]")


@dataclass
class Hidden:
    """How many characters were taken out, or changed to what they look like."""

    count: int = 0


_hidden: ContextVar[Hidden | None] = ContextVar("hidden", default=None)


@contextmanager
def counted_hidden() -> Iterator[Hidden]:
    """Counts what `clean` finds hidden in here, whichever loader calls it."""
    found = Hidden()
    token = _hidden.set(found)
    try:
        yield found
    finally:
        _hidden.reset(token)


def clean(text: str) -> str:
    """The text in NFC with `\\n` line ends and nothing invisible. White space is kept as it is.

    In a word of mostly Latin letters, those that only look Latin become Latin: it is found by the
    letters that a reader sees.
    """
    text = _LINE_END.sub("\n", text)
    seen = _SELECTORS.sub("", INVISIBLE.sub("", text))
    plain = unicodedata.normalize("NFC", seen)
    latin = _WORD.sub(_latin, plain) if _LOOKS_LATIN.search(plain) else plain
    counting = _hidden.get()
    if counting is not None:
        usual = sum(map(text.count, _USUAL))
        counting.count += max(0, len(text) - len(seen) - usual)
        counting.count += sum(one != other for one, other in zip(plain, latin, strict=True))
    return latin if latin is plain else unicodedata.normalize("NFC", latin)


def _latin(found: re.Match[str]) -> str:
    word = found.group()
    latin = sum("a" <= c <= "z" for c in word.lower())
    alike = len(_LOOKS_LATIN.findall(word))
    if not latin >= alike > 0:
        return word
    plain = word.translate(_LOOK_ALIKES)
    others = (c for c in plain if c.isalpha() and not c.isascii())
    return plain if all("LATIN" in unicodedata.name(c, "") for c in others) else word


def printable(text: str) -> str:
    """The cleaned text with a space for each control character, white space apart.

    For what comes in beside documents (questions, conversations, pages of the web) and for what is
    shown on a terminal. A space, because it stood between two words as often as not; what follows
    an escape character stays, as plain text.
    """
    return clean(re.sub(f"[{_CONTROL}]", " ", text))


def printable_json(content: Any) -> Any:
    """The same content with every text printable: JSON may hold half of a surrogate pair, which can
    be encoded nowhere."""
    if isinstance(content, dict):
        return {printable_json(key): printable_json(value) for key, value in content.items()}
    if isinstance(content, list):
        return [printable_json(one) for one in content]
    return printable(content) if isinstance(content, str) else content


def one_line(text: str) -> str:
    """The cleaned text with every run of white space, no-break spaces too, as one space."""
    return " ".join(clean(text).split())


def lines(text: str) -> str:
    """The cleaned text with each line as `one_line` gives it, and no blank lines."""
    found = (" ".join(line.split()) for line in clean(text).split("\n"))
    return "\n".join(line for line in found if line)
