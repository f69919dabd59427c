"""Characters made plain, so that what a reader sees is what is searched, quoted and hashed."""

import re
import unicodedata

_LINE_END = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_CONTROL = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # but for tab and what ends a line
INVISIBLE = re.compile(
    f"[{_CONTROL}"
    "\u00ad\u061c\u180e"  # soft hyphen, Arabic letter mark, Mongolian vowel separator
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, bidirectional, byte order mark
    "\ud800-\udfff\ufff9-\ufffb\ufffe\uffff"  # lone surrogates, annotations, non-characters
    "\U000e0000-\U000e007f"  # tags: text that models read and people do not see
    "]"
)


def clean(text: str) -> str:
    """The text in NFC with `\\n` line ends and nothing invisible. White space is kept as it is."""
    text = INVISIBLE.sub("", _LINE_END.sub("\n", text))
    return unicodedata.normalize("NFC", text)


def printable(text: str) -> str:
    """The cleaned text with a space for each control character, white space apart.

    For what comes in beside documents (questions, conversations, pages of the web) and for what is
    shown on a terminal. A space, because it stood between two words as often as not; what follows
    an escape character stays, as plain text.
    """
    return clean(re.sub(f"[{_CONTROL}]", " ", text))


def one_line(text: str) -> str:
    """The cleaned text with every run of white space, no-break spaces too, as one space."""
    return " ".join(clean(text).split())


def lines(text: str) -> str:
    """The cleaned text with each line as `one_line` gives it, and no blank lines."""
    found = (" ".join(line.split()) for line in clean(text).split("\n"))
    return "\n".join(line for line in found if line)
