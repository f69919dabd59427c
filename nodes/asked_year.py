"""Whether what a document says is of another year than the one that is asked about."""

import re

from nodes.answer_type import expected_type

_YEAR = r"(?<![\w.,\-/])(?:19|20)\d\d(?![\w\-/]|[.,]\d)"
_UNIT = (
    r"(?!\s*(?:[€$£%]|euros?\b|dollars?\b|pounds?\b|people\b|guests\b|units?\b|hours?\b|gäste\b))"
)
_YEARS = re.compile(_YEAR + _UNIT, re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:in|im|jahre?|year|of|from|since|seit|until|bis|by|for|für|during|summer|winter|spring"
    r"|autumn|fall|sommer|frühling|frühjahr|herbst|season|saison|en|del?|año|\w+(?:ary|ber|ch|il))"
    rf"\s+(?P<year>{_YEAR}){_UNIT}"
    rf"|\b(?:the|our|der|die|das)\s+(?P<the>{_YEAR}){_UNIT}\s+[^\W\d_]"
    rf"|(?<!room )(?<!raum )(?<!number )(?<!code )(?<!model )(?P<last>{_YEAR})\s*(?:[?.,;:!)]|$)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"(?P<first>{_YEAR})\s*(?:[-–]|to|until|through|bis|hasta|a)\s*(?P<last>(?:19|20)\d\d)\b"
    rf"|\b(?:between|zwischen|entre)\s+(?P<low>{_YEAR})\s+(?:and|und|y)\s+(?P<high>(?:19|20)\d\d)\b"
    rf"|\b(?:since|from|seit|ab|desde)\s+(?:[^\W\d_]+\s+){{0,2}}(?P<since>{_YEAR})"
    r"(?!\s*(?:[-–]|to|until|through|bis|hasta|a)\s*\d)",
    re.IGNORECASE,
)


def asked_years(question: str) -> frozenset[str]:
    """The years that it asks about: `in 2023`. Of a question for a date it is none: the answer is
    another year."""
    if expected_type(question) == "date":
        return frozenset()
    return frozenset(
        found["year"] or found["the"] or found["last"] for found in _ASKED.finditer(question)
    )


def of_another_year(text: str, *, head: str, asked: frozenset[str]) -> bool:
    """Whether the text names years and none that is asked about; where it names none, what stands
    above it decides. `2019 to 2024` and `since 2019` hold the years after it."""
    if not asked:
        return False
    for said in (text, head):
        if years := set(_YEARS.findall(said)):
            return not (years & asked or _spans(said, asked))
    return False


def _spans(text: str, asked: frozenset[str]) -> bool:
    return any(
        (found["since"] or found["low"] or found["first"])
        <= year
        <= (found["last"] or found["high"] or "9999")
        for found in _RANGE.finditer(text)
        for year in asked
    )
