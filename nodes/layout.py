"""Words of a document without the marks of its layout: lists, tables, headings, emphasis."""

import re

from ingest.sentences import GERMAN_MONTHS

_OPENING = re.compile(
    r"\s*(?:#{1,6}|>|[-*•‣◦▪–](?:\s+\[[ xX]\])?|\+(?!\s*\d)|\(?\d{1,3}[.)]|\(?[a-z]\))\s+(?=\S)"
)
"""`## `, `- `, `- [x] `, `3. `, `(b) `; a phone number's `+ 49` is none."""

_COUNTED = GERMAN_MONTHS | frozenset(
    "halbjahr woche tag abend stunde stock etage og obergeschoss mahnung rate schicht auflage"
    " vorsitzende vorsitzender geschäftsführer geschäftsführerin".split()
)
"""What a German ordinal counts: `3. Oktober` begins no item of a list."""

_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_COMMAND = re.compile(
    r"`|\|\s+(?:sudo )?(?:awk|bash|cat|cut|grep|head|jq|less|more|python3?|sed|sh|sort|tail|tee|tr"
    r"|uniq|wc|xargs)\b"
)
"""A pipe of a shell is no table's."""


def unmarked(text: str) -> str:
    """As it is read aloud: `3. Taxis only` is `Taxis only`, the cells of a row stand between
    semicolons. Empty only where the text is."""
    mark = _OPENING.match(text)
    while mark and not _is_ordinal(text, mark):
        text = text[mark.end() :]
        mark = _OPENING.match(text)
    text = _STRONG.sub(r"\2", text)
    if "|" not in text or _COMMAND.search(text):
        return text
    bare = text.strip()
    if bare.count("|") > 2 and bare[0] == bare[-1] == "|":
        return "; ".join(cell.strip() for cell in bare[1:-1].split("|"))
    return text.replace(" | ", "; ")


def row_name(text: str) -> str:
    """What the first cell of a table row says, `Cargo bike` of `Bike: Cargo bike | Per day: 39 €`;
    empty for what is no row."""
    if " | " not in text or _COMMAND.search(text):
        return ""
    cell = next((cell for cell in text.split("|") if cell.strip()), "").strip()
    return cell.partition(": ")[2].strip() or cell


def _is_ordinal(text: str, mark: re.Match[str]) -> bool:
    if not mark.group().strip().rstrip(".").isdigit():
        return False
    following = re.match(r"\w+", text[mark.end() :])
    return following is not None and following.group().lower() in _COUNTED
