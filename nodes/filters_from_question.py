"""Filters by what a question names and the base holds: version, language, product, time."""

import calendar
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from ingest.filters import MAX_VALUES, Condition, Filters
from ingest.records import DocumentRecord
from nodes.words import words

VERSION = re.compile(
    r"\b(?:version|release|versión|v)\s?(?P<version>\d+(?:\.\d+)*)\b", re.IGNORECASE
)
LANGUAGE_NAMES = {
    "en": "english|englisch\\w*|inglés\\w*",
    "de": "german|deutsch\\w*|alemán\\w*",
    "es": "spanish|spanisch\\w*|español\\w*",
    "fr": "french|französisch\\w*|francés\\w*",
}
LANGUAGE = re.compile(
    r"\b(?:in|auf|en|the)\s+(?:"
    + "|".join(f"(?P<{code}>{names})" for code, names in LANGUAGE_NAMES.items())
    + r")(?=\W*$|\s+(?:document|version|edition|manual|dokument|fassung|versión)\w*\b)",
    re.IGNORECASE,
)
"""`in German` at the end, or `the German version`; "in German law" names no language."""

YEAR = re.compile(
    r"\b(?:dated|effective|published|issued|documents? (?:of|from)|gültig|aus dem jahr|vigente)"
    r"\W+(?:in|from|since|of|ab|seit)?\W*(?P<year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""A year of documents; most years in questions are of what the documents tell."""

RELATIVE = re.compile(
    r"\b(?P<span>last|this|letzte[nrs]?|diese[nrsm]?|est[ea])\s+"
    r"(?P<unit>week|month|year|woche|monat|jahr|semana|mes|año)\b"
    r"|\b(?P<yesterday>yesterday|gestern|ayer)\b|\b(?P<today>today|heute|hoy)\b"
    r"|\b(?P<past>semana|mes|año)\s+pasad[oa]\b",
    re.IGNORECASE,
)
UNITS = {"woche": "week", "semana": "week", "monat": "month", "mes": "month", "jahr": "year",
         "año": "year"}  # fmt: skip


def filters_from_question(
    question: str, documents: Sequence[DocumentRecord], *, today: date
) -> Filters:
    """A condition for each thing that is named and held; nothing for what the base does not hold,
    and nothing where more than MAX_VALUES documents would have to be named."""
    conditions = [
        *_named(question, documents),
        *_of_documents(d.document_id for d in documents if _of_product(question, d)),
    ]
    span = period(question, today)
    if span:
        first, last = (day.isoformat() for day in span)
        within = Condition("effective", [], at_least=first, at_most=last)
        held = any(within.admits(d.metadata.get("effective")) for d in documents)
        conditions += [within] if held else []
    return Filters(conditions)


def period(question: str, today: date) -> tuple[date, date] | None:
    """The first and the last day of the time that documents are asked for."""
    year = YEAR.search(question)
    if year:
        return date(int(year["year"]), 1, 1), date(int(year["year"]), 12, 31)
    found = RELATIVE.search(question)
    if not found:
        return None
    if found["yesterday"] or found["today"]:
        day = today - timedelta(days=bool(found["yesterday"]))
        return day, day
    unit = (found["unit"] or found["past"]).lower()
    back = not found["span"] or found["span"].lower().startswith(("last", "letzt"))
    return _span(UNITS.get(unit, unit), today, back=back)


def _span(unit: str, today: date, *, back: bool) -> tuple[date, date]:
    if unit == "week":
        first = today - timedelta(days=today.weekday() + 7 * back)
        return first, first + timedelta(days=6)
    if unit == "year":
        return date(today.year - back, 1, 1), date(today.year - back, 12, 31)
    last_before = today.replace(day=1) - timedelta(days=1)
    month = last_before if back else today
    days = calendar.monthrange(month.year, month.month)[1]
    return month.replace(day=1), month.replace(day=days)


def _named(question: str, documents: Sequence[DocumentRecord]) -> list[Condition]:
    held: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        for key in ("version", "language"):
            if key in document.metadata:
                held[key].add(document.metadata[key])
    versions = {match["version"] for match in VERSION.finditer(question)}
    found = LANGUAGE.search(question)
    wanted = {"version": versions, "language": {found.lastgroup or ""} if found else set()}
    return [
        Condition(key, sorted(values & held[key]))
        for key, values in wanted.items()
        if values & held[key]
    ]


def _of_product(question: str, document: DocumentRecord) -> bool:
    """Its `product` stands in the question, word for word."""
    product = words(document.metadata.get("product", ""))
    asked = words(question)
    places = range(len(asked) - len(product) + 1)
    return bool(product) and any(asked[n : n + len(product)] == product for n in places)


def _of_documents(ids: Iterable[str]) -> list[Condition]:
    found = sorted(ids)
    return [Condition("document_id", found)] if 0 < len(found) <= MAX_VALUES else []
