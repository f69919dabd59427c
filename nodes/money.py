"""Sums of money in a text, told from counts of things."""

import re

from nodes.words import ALL_STOP_WORDS

_HOW_MANY = re.compile(r"\bhow many\b|\bwie ?viele\b|\bcu[aá]nt[oa]s\b", re.IGNORECASE)
_CURRENCY = (
    r"(?:[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|JPY|euros?|dollars?|pounds?|francs?|Franken"
    r"|cents?|Pfund|pesos?|crowns?|Kronen|kr)\b)"
)
MONEY = rf"(?:{_CURRENCY}\s?\d+(?:[.,]\d+)*|(?<![\w.,-])\d+(?:[.,]\d+)*\s?{_CURRENCY})"
_MONEY = re.compile(MONEY, re.IGNORECASE)
_NOUN = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?:[\s-](?P<noun>[^\W\d_]+(?:-[^\W\d_]+)*))?")


def is_counted(question: str) -> bool:
    """Whether it asks how many there are of what is no money: no price answers that."""
    counted = _HOW_MANY.search(question) and not re.search(_CURRENCY, question, re.IGNORECASE)
    return bool(counted)


def without_money(text: str) -> str:
    return _MONEY.sub(" ", text)


def is_money(text: str) -> bool | None:
    """Whether its numbers are sums of money; False where each counts a thing or a time, such as
    `15 bikes`, and None where they stand bare or there are none."""
    if _MONEY.search(text):
        return True
    counted = [match["noun"] for match in _NOUN.finditer(text)]
    named = [word and word.lower() not in ALL_STOP_WORDS | {"per", "pro"} for word in counted]
    return False if named and all(named) else None
