"""What a sentence states as an answer: its values of the kind that a question asks for."""

import re

from nodes.answer_type import expected_type
from nodes.answer_words import AnswerType
from nodes.money import is_counted, without_money
from nodes.safe_sentences import without_addresses
from nodes.words import ALL_STOP_WORDS, guess_language, stem, words

_NUMBER_WORDS = {
    word: str(number)
    for number, row in enumerate(
        """one ein eine einen einem einer un una uno|two zwei dos|three drei tres|four vier cuatro
        |five fünf cinco|six sechs seis|seven sieben siete|eight acht ocho|nine neun nueve
        |ten zehn diez|eleven elf once|twelve zwölf doce|thirteen dreizehn trece
        |fourteen vierzehn catorce|fifteen fünfzehn quince""".split("|"),
        start=1,
    )
    for word in row.split()
} | {"twenty": "20", "zwanzig": "20", "veinte": "20", "thirty": "30", "dreißig": "30"}

_UNITS = {
    unit: name
    for name, row in {
        "second": "second seconds sec secs sekunde sekunden segundo segundos",
        "minute": "minute minutes min mins minuten minuto minutos",
        "hour": "hour hours hr hrs stunde stunden hora horas",
        "day": "day days tag tage tagen werktage werktagen arbeitstage arbeitstagen día días dia",
        "week": "week weeks woche wochen semana semanas",
        "month": "month months monat monate monaten mes meses",
        "year": "year years jahr jahre jahren año años",
    }.items()
    for unit in row.split()
}
_IN_DAYS = {"day": 1, "week": 7}
_NEAR = 3
"""Words after a number among which its unit of time stands: `5 full business days`."""

_COMPOUND = re.compile(r"\w+(?P<unit>stunden?|tage?n?|wochen?|monate?n?|jahre?n?)")
"""A unit of time that ends a German compound: `Kalendertage`."""

_PER = frozenset(
    """per a an each every this in pro je im jede jeden jedes jeder diesem dieses al por cada
    """.split()
)
"""Words before the time that a number is for, which is no unit of it: `28 days a year`."""

_PERIOD = re.compile(
    r"(?:\b(?:per|an?|each|every|pro|je|im|jede[nsr]?|al|por|cada)\s+|/\s?)([^\W\d_]+)",
    re.IGNORECASE,
)

_COUNTED_AS: dict[AnswerType, AnswerType] = {
    "frequency": "duration", "price": "amount", "pin": "code", "phone": "code"
}  # fmt: skip

_PER_THING = re.compile(r"\b(?:per|pro)\s+(?!(?:cent|zent)\b)([^\W\d_]+)", re.IGNORECASE)

NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_ISO_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_CLOCK = re.compile(
    r"\b(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap]\.?m\b|uhr\b|o['’]clock\b)"
    r"|\b(?P<exact>\d{1,2}):(?P<exact_minute>[0-5]\d)\b",
    re.IGNORECASE,
)
_COUNTED = {
    sign: name
    for name, row in {
        "euro": "€ eur euro euros", "dollar": "$ usd dollar dollars", "pound": "£ gbp pounds",
        "franken": "chf franken francs", "percent": "% percent prozent", "gb": "gb gigabyte",
        "mb": "mb megabyte", "kg": "kg kilogram kilograms kilo kilos kilogramm",
        "g": "g grams gramm", "km": "km kilometres kilometers kilometer",
        "m": "m metres meters meter", "cm": "cm zentimeter", "mm": "mm millimeter",
        "litre": "l litres liters liter", "degree": "° degrees grad", "volt": "v volts volt",
        "watt": "w watts watt", "kw": "kw",
        "person": "person persons people guests guest personen gäste users user seats plätze",
    }.items()
    for sign in row.split()
}  # fmt: skip
_AMOUNT = re.compile(
    r"(?P<sign>[€$£]|\b(?:EUR|USD|GBP|CHF))\s?(?P<signed>\d+(?:[.,]\d+)*)"
    r"|(?<![\w.,-])(?P<number>\d+(?:[.,]\d+)*)\s?(?P<unit>[%€$£°]|[^\W\d_]+)"
)
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w-]|[.,]\d)")
_NAME = re.compile(r"(?<![\w'’])[A-ZÀ-Þ][\w'’-]*")
_OPENS = re.compile(r"(?:^|[.!?:;|]\s|[\"“\n])\W*$")
_MANY = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,3}(?:are|were)\b|\b(?:rules?|regeln|reglas)\b", re.IGNORECASE
)
_NEGATED = re.compile(
    r"\b(?:not|no|never|cannot|can['’]t|don['’]t|doesn['’]t|isn['’]t|aren['’]t|mustn['’]t|neither"
    r"|forbidden|prohibited|excluded|nicht|kein\w*|nie|verboten|ausgeschlossen|nunca|ninguna?"
    r"|prohibid\w+)\b",
    re.IGNORECASE,
)


def stated_values(sentence: str, question: str) -> frozenset[str]:
    """The values of the asked kind that the sentence states and the question does not.

    Quantities with their unit of time (`day 14`), dates and other numbers, or names, each in one
    spelling: two weeks and 14 days are the same. For a question of yes or no it is `yes` or `no`.
    Empty where the sentence holds none, and for what has no single answer, such as rules, steps,
    reasons and the row of a table: then nothing can be said about what it states.
    """
    kind = expected_type(question)
    if " | " in sentence:
        return frozenset()
    if kind == "yes_no":
        return frozenset(["no" if _NEGATED.search(sentence) else "yes"])
    if kind in ("step", "reason") or _MANY.search(question):
        return frozenset()
    if is_counted(question):
        sentence = without_money(sentence)
    kind = _COUNTED_AS.get(kind, kind)
    if kind in ("duration", "amount", "date", "code"):
        return frozenset(_quantities(sentence, kind) - _quantities(question, kind))
    if kind == "person":
        return _named(sentence, question)
    return _named(sentence, question) | (
        _quantities(sentence, "date") - _quantities(question, "date")
    )


def shape(value: str) -> str:
    """Values of one shape can be compared: times, dates, numbers, words."""
    if " " in value:
        return "time"
    if _ISO_DATE.fullmatch(value):
        return "date"
    return "number" if value[0].isdigit() else "word"


def periods(sentence: str) -> frozenset[str]:
    """What its values are for: `month` of 12 euros a month, and of 12 Euro im Monat; `trip` of 30
    euros per trip."""
    said = (match[1].lower() for match in _PERIOD.finditer(sentence))
    things = (match[1].lower() for match in _PER_THING.finditer(sentence))
    times = frozenset(_UNITS[word] for word in said if word in _UNITS)
    return times | frozenset(stem(word) for word in things if word not in _UNITS)


def measures(text: str) -> dict[str, set[float]]:
    """Its numbers by what they count: `clock` in hours, `day` and other times, `euro`, a calendar
    `year of`. A number that counts nothing, as in a product's name or a version, is none."""
    found: dict[str, set[float]] = {}
    for match in _CLOCK.finditer(text):
        found.setdefault("clock", set()).add(_hours(match))
    rest = _ISO_DATE.sub(" ", _CLOCK.sub(" ", text))
    for value in _quantities(rest, "duration"):
        unit, _, number = value.partition(" ")
        found.setdefault(unit, set()).add(float(number))
    for match in _AMOUNT.finditer(rest):
        counted = _COUNTED.get((match["sign"] or match["unit"]).lower())
        if counted is not None:
            found.setdefault(counted, set()).add(float(_plain(match["signed"] or match["number"])))
    for year in _YEAR.findall(rest):
        found.setdefault("year of", set()).add(float(year))
    return found


def _hours(clock: re.Match[str]) -> float:
    hour = int(clock["hour"] or clock["exact"])
    half = (clock["half"] or "").lower()
    if half.startswith(("a", "p")):
        hour = hour % 12 + 12 * half.startswith("p")
    return hour + int(clock["minute"] or clock["exact_minute"] or 0) / 60


def _named(sentence: str, question: str) -> frozenset[str]:
    asked = {stem(word) for word in words(question)}
    return frozenset(name for name in names(sentence) if stem(name) not in asked)


def _quantities(text: str, kind: AnswerType) -> set[str]:
    text = text if kind == "code" else without_addresses(text)
    tokens = [match.group().lower() for match in _TOKEN.finditer(_ISO_DATE.sub(" ", text))]
    found = set(_ISO_DATE.findall(text)) if kind != "duration" else set()
    for place, token in enumerate(tokens):
        number = _plain(token) if token[0].isdigit() else _NUMBER_WORDS.get(token)
        if number is None:
            continue
        unit = _unit(tokens[place + 1 : place + 1 + _NEAR], kind)
        if unit and kind in ("duration", "date"):
            found.add(_timed(number, unit))
        elif not unit and kind != "duration" and (token[0].isdigit() or number != "1"):
            found.add(number)
    return found


def _unit(following: list[str], kind: AnswerType) -> str:
    """The unit of time that comes before the next number, or nothing; an amount of days is
    counted in them: `28 Urlaubstage`."""
    for word in following:
        if word[0].isdigit() or word in _PER:
            return ""
        compound = _COMPOUND.fullmatch(word) if kind != "amount" else None
        unit = compound["unit"] if compound and word not in _UNITS else word
        if unit in _UNITS:
            return _UNITS[unit]
    return ""


def _timed(number: str, unit: str) -> str:
    if unit in _IN_DAYS and number.isdigit():
        return f"day {int(number) * _IN_DAYS[unit]}"
    return f"{unit} {number}"


def _plain(number: str) -> str:
    """Without the marks between thousands and without a fraction of zeros; the point is a dot."""
    if _THOUSANDS.fullmatch(number):
        return re.sub(r"[.,]", "", number)
    *whole, rest = re.split(r"[.,:]", number)
    return f"{''.join(whole)}.{rest}" if whole and rest.strip("0") else "".join(whole) or rest


def names(text: str) -> frozenset[str]:
    """Words with a capital, but one alone where a sentence begins; German writes every noun so."""
    if guess_language(text) == "de":
        return frozenset()
    found = list(_NAME.finditer(text))
    kept: set[str] = set()
    for place, match in enumerate(found):
        alone = not (place + 1 < len(found) and found[place + 1].start() - match.end() == 1)
        if not (alone and _OPENS.search(text[: match.start()])):
            kept.update(words(match.group()))
    return frozenset(kept - ALL_STOP_WORDS)
