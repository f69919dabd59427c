"""Finds what is counted in a text: numbers with units and bounds, in English and German."""

import re
from dataclasses import dataclass
from typing import Literal

from graph.adapters.claim_dates import dates
from nodes.words import stem

Bound = Literal["", "least", "most"]

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ONES_DE = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
).split()
_TENS_DE = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()

_SMALL = {word: n for n, word in enumerate(_ONES)} | {w: 20 + 10 * n for n, w in enumerate(_TENS)}
_SMALL |= {f"{t}-{o}": 20 + 10 * n + i
           for n, t in enumerate(_TENS) for i, o in enumerate(_ONES[:10]) if i}  # fmt: skip
_SMALL |= {word: n for n, word in enumerate(_ONES_DE)} | {"eins": 1}
_SMALL |= {w: 20 + 10 * n for n, w in enumerate(_TENS_DE)}
_SMALL |= {f"{o}und{t}": 20 + 10 * n + i
           for n, t in enumerate(_TENS_DE) for i, o in enumerate(_ONES_DE[:10]) if i}  # fmt: skip
_SMALL |= {"dozen": 12, "dutzend": 12, "both": 2, "beide": 2, "beiden": 2}
_ARTICLES = frozenset({"a", "an", "ein", "eine", "einen", "einem", "einer", "eines", "one"})
"""A number only before a unit of time: `a week`, but not `one of them`."""

_SCALES = {
    "hundred": 1e2, "hundert": 1e2, "thousand": 1e3, "tausend": 1e3, "tsd": 1e3, "k": 1e3,
    "million": 1e6, "millions": 1e6, "millionen": 1e6, "mio": 1e6, "m": 1e6,
    "billion": 1e9, "billions": 1e9, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9, "bn": 1e9,
}  # fmt: skip
_TIMES = {"once": 1, "twice": 2, "einmal": 1, "zweimal": 2, "dreimal": 3, "half": 0.5, "halb": 0.5}

_UNITS = {
    "second seconds sec sekunde sekunden": ("hour", 1 / 3600),
    "minute minutes min minuten": ("hour", 1 / 60),
    "hour hours hr hrs h stunde stunden": ("hour", 1),
    "day days tag tage tagen tages": ("hour", 24),
    "week weeks woche wochen": ("hour", 168),
    "fortnight": ("hour", 336),
    "month months monat monate monaten": ("month", 1),
    "quarter quarters quartal quartale": ("month", 3),
    "year years jahr jahre jahren jahres": ("month", 12),
    "decade decades jahrzehnt jahrzehnte": ("month", 120),
    "workday workdays werktag werktage werktagen arbeitstag arbeitstage arbeitstagen": ("work", 1),
    "% percent prozent pct": ("%", 1),
    "€ eur euro euros": ("eur", 1),
    "$ usd dollar dollars": ("usd", 1),
    "£ gbp pound pounds": ("gbp", 1),
    "chf franken": ("chf", 1),
    "cent cents": ("cent", 1),
    "km kilometer kilometers kilometres kilometern": ("metre", 1000),
    "metre metres meter meters metern": ("metre", 1),
    "cm centimeter centimeters zentimeter": ("metre", 0.01),
    "mm millimeter millimetre": ("metre", 0.001),
    "mile miles meilen": ("mile", 1),
    "kg kilogram kilograms kilogramm kilo kilos": ("gram", 1000),
    "g gram grams gramm": ("gram", 1),
    "gb gigabyte gigabytes": ("byte", 1e9),
    "mb megabyte megabytes": ("byte", 1e6),
    "tb terabyte terabytes": ("byte", 1e12),
    "am uhr o'clock pm": ("clock", 1),
}
_UNIT = {word: unit for line, unit in _UNITS.items() for word in line.split()}
_TIME_KINDS = ("hour", "month", "work")

_BEFORE: dict[Bound, str] = {
    "least": r"at least|no less than|no fewer than|not less than|minimum(?: of)?|more than|over"
    r"|above|from|exceed(?:s|ing)?|older than|longer than|mindestens|wenigstens|nicht weniger als"
    r"|mehr als|über|ab|minimum|länger als|älter als|min\.?",
    "most": r"at most|no more than|not more than|up to|maximum(?: of)?|less than|fewer than|under"
    r"|below|within|not exceed(?:ing)?|younger than|shorter than|höchstens|maximal|nicht mehr als"
    r"|bis(?: zu)?|weniger als|unter|binnen|innerhalb(?: von)?|kürzer als|jünger als|max\.?",
}
_AFTER: dict[Bound, str] = {
    "least": r"or more|and more|or above|or older|or longer|and over|oder mehr|und mehr|oder länger"
    r"|oder älter|minimum",
    "most": r"or less|or fewer|or below|or under|or younger|oder weniger|oder kürzer|maximum",
}
_BOUND_BEFORE = {b: re.compile(rf"\b(?:{p})(?: (?:the|an?|den|der|einem|einer))?\s*$", re.I)
                 for b, p in _BEFORE.items()}  # fmt: skip
_BOUND_AFTER = {b: re.compile(rf"\s*(?:[\w%€$]+ )?(?:{p})\b", re.I) for b, p in _AFTER.items()}

_NUMBER = re.compile(
    r"(?<![\w.,])(?P<before>[€$£]|EUR|USD|GBP|CHF)?\s?(?P<digits>\d+(?:[.,:]\d+)*)(?P<ordinal>st|nd|rd|th)?"
    r"|(?<![\w-])(?P<word>[^\W\d_]+(?:-[^\W\d_]+)?)(?![\w-])"
)
_NEXT = re.compile(r"[\s-]?(%|€|\$|£|[^\W\d_]+(?:'[^\W\d_]+)?)")
_WORKING = re.compile(r"\s?(?:business|working|work)[\s-]days?\b", re.I)
_AROUND = 28


@dataclass(frozen=True)
class Quantity:
    """`text[start:end]`: what it may amount to, in the base unit of its kind.

    Several values where a separator may stand for thousands or decimals. `kind` is the kind of
    unit, the stem of what is counted, or empty.
    """

    values: frozenset[float]
    kind: str
    bound: Bound
    start: int
    end: int


def quantities(text: str) -> list[Quantity]:
    """In order, without what is part of a date. Takes linear time."""
    taken = [(date.start, date.end) for date in dates(text)]
    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        if any(start <= match.start() < end for start, end in taken):
            continue
        if found and match.start() < found[-1].end:
            continue
        quantity = _quantity(text, match)
        if quantity is not None:
            found.append(quantity)
    return found


def _quantity(text: str, match: re.Match[str]) -> Quantity | None:
    digits, word = match["digits"], (match["word"] or "").lower()
    article = word in _ARTICLES
    if digits:
        values = _values(digits)
    elif word in _TIMES:
        values = frozenset({float(_TIMES[word])})
    elif word in _SMALL and word not in ("ein",):
        values = frozenset({float(_SMALL[word])})
    elif article:
        values = frozenset({1.0})
    else:
        return None
    end, kind = match.end(), "th" if match["ordinal"] else ""
    while (scale := _next(text, end)) and scale[0].lower() in _SCALES and len(scale[0]) > 1:
        values = frozenset(v * _SCALES[scale[0].lower()] for v in values)
        end, article = scale[1], False
    if match["before"]:
        kind = _UNIT[match["before"].lower()][0]
    elif working := _WORKING.match(text, end):
        kind, end = "work", working.end()
    elif unit := _next(text, end):
        name = unit[0].lower()
        if name in _UNIT:
            kind, factor = _UNIT[name]
            if name == "pm":
                values = frozenset(v + 12 if v < 12 else v for v in values)
            values = frozenset(v * factor for v in values)
            end = unit[1]
        elif not kind and unit[0].isalpha() and len(name) > 2:
            kind = "#" + stem(name)
    if article and kind not in _TIME_KINDS:
        return None
    return Quantity(values, kind, _bound(text, match.start(), end), match.start(), end)


def _next(text: str, at: int) -> tuple[str, int] | None:
    match = _NEXT.match(text, at)
    return (match[1], match.end()) if match else None


def _values(digits: str) -> frozenset[float]:
    """1.500 may be thousands or not, 1,500 is; else a comma is a decimal point; 10:30 is half past
    ten."""
    if ":" in digits:
        hour, _, minute = digits.partition(":")
        plain = hour.isdigit() and minute.isdigit()
        return frozenset({int(hour) + int(minute) / 60}) if plain else frozenset({float("inf")})
    found = set()
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?", digits):
        *whole, last = re.split(r"[.,]", digits)
        found.add(float("".join(whole) + (last if len(last) == 3 else f".{last}")))
    if re.fullmatch(r"\d+(?:\.\d+|,(?!\d{3}$)\d+)?", digits):
        found.add(float(digits.replace(",", ".")))
    return frozenset(found or {float(re.sub(r"\D", "", digits))})


def _bound(text: str, start: int, end: int) -> Bound:
    before, after = text[max(0, start - _AROUND) : start].rstrip("€$£ ") + " ", text[end : end + 24]
    for bound in ("most", "least"):
        if _BOUND_BEFORE[bound].search(before) or _BOUND_AFTER[bound].match(after):
            return bound
    return ""
