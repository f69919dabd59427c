"""Joins the lines that a fixed page width has cut, and leaves the others alone."""

import math
import re

_LIST_ITEM = re.compile(r"([-*•‣◦▪–]|\(?\d{1,3}[.)])\s+(?=\S)")
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "…")
_CLOSERS = "\"'”’»)]"
_CONJUNCTIONS = frozenset({"und", "oder", "bis", "bzw.", "and", "or", "to"})
_WIDEST = 160
"""Characters. Text with longer lines was never wrapped."""

_PROSE = 0.8
_FULL = 0.9
"""Of the width. Proportional type and long words leave lines of uneven length."""

_ROW_END = 8
"""Characters without a letter that show a line to be a row of figures, not prose."""


def is_list_item(line: str) -> bool:
    """Whether the line opens with a bullet or a number."""
    return _LIST_ITEM.match(line) is not None


def page_width(lines: list[str], narrowest: int) -> float:
    """The width, in characters, at which these lines seem to have been wrapped.

    Infinite if they were not: narrower than `narrowest` they are addresses, poems or data.
    """
    lengths = sorted(len(line) for line in lines)
    prose, short = sum(lengths), 0
    for width in lengths:
        short += width
        if short > _PROSE * prose:  # by characters, or the short lines of tables outvote prose
            return width if narrowest <= width <= _WIDEST else math.inf
    return math.inf


def hyphenated_words(text: str) -> frozenset[str]:
    """The words written with a hyphen inside a line, in lower case: they keep theirs."""
    return frozenset(word.lower() for word in re.findall(r"\b\w+-\w+", text))


def paragraphs(lines: list[str], width: float, hyphenated: frozenset[str]) -> list[str]:
    """The stripped lines as paragraphs and list items, wrapped lines joined.

    A blank line ends a paragraph, and so does a line with a full stop and room to spare. Short
    lines without one stay lines of a common paragraph: an address, a column of a table.
    """
    found: list[list[str]] = [[]]
    previous = ""
    for line in lines:
        parts = found[-1]
        if not line:
            found.append([])
        elif not parts or is_list_item(line):
            found.append([line])
        elif _is_wrapped(previous, line, width):
            parts[-1:] = _joined(parts[-1], line, hyphenated)
        elif _is_ended(previous) or is_list_item(parts[0]):
            found.append([line])
        else:
            parts.append("\n" + line)
        previous = line
    return ["".join(parts) for parts in found if parts]


def _is_wrapped(line: str, following: str, width: float) -> bool:
    """Whether the next line's first word would not have fitted, or goes on with the sentence."""
    if following[0].islower() and not _is_ended(line):
        return len(line) > width / 2 or _ends_in_hyphen(line)
    if not any(character.isalpha() for character in line[-_ROW_END:]):
        return False
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) > _FULL * width


def continued(paragraph: str, following: str, hyphenated: frozenset[str]) -> str:
    """Both as one, where a page break has cut a sentence; else nothing."""
    if _is_ended(paragraph) or not following[:1].islower():
        return ""
    return "".join(_joined(paragraph, following, hyphenated))


def _is_ended(line: str) -> bool:
    return line.rstrip(_CLOSERS).endswith(_ENDS)


def _ends_in_hyphen(line: str) -> bool:
    return line.endswith("-") and line[-2:-1].isalnum()


def _joined(line: str, following: str, hyphenated: frozenset[str]) -> tuple[str, str]:
    """Both lines as one; the hyphen goes where it only marks the break of a word."""
    if not _ends_in_hyphen(line):
        return line, " " + following
    head, tail = re.findall(r"\w+", line[-60:])[-1], re.match(r"\w*", following[:60])
    word = tail[0] if tail else ""
    if word.lower() in _CONJUNCTIONS:  # "Haupt- und Nebenkosten"
        return line, " " + following
    is_compound = f"{head}-{word}".lower() in hyphenated or not word[:1].islower()
    return (line if is_compound else line[:-1]), following
