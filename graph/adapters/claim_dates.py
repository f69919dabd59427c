"""Finds the dates of a text, in English and German."""

import re
from dataclasses import dataclass

_MONTHS = {
    name: n
    for n, names in enumerate(
        (
            "january januar jänner jan", "february februar feb", "march märz mar", "april apr",
            "may mai", "june juni jun", "july juli jul", "august aug", "september sept sep",
            "october oktober oct okt", "november nov", "december dezember dec dez",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = re.compile(
    rf"\b(?P<y1>\d{{4}})-(?P<m1>\d\d)-(?P<d1>\d\d)\b"
    rf"|\b(?P<d2>\d{{1,2}})\.(?P<m2>\d{{1,2}})\.(?P<y2>\d{{4}})\b"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<m3>{_MONTH})\b\.?(?:,? (?P<y3>\d{{4}}))?"
    rf"|\b(?P<m4>{_MONTH})\b\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? (?P<y4>\d{{4}}))?"
    rf"|\b(?P<m5>{_MONTH})\b\.?,? (?P<y5>\d{{4}})\b",
    re.I,
)


@dataclass(frozen=True)
class Date:
    """`text[start:end]`; None where a part is not said."""

    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int

    def agrees(self, other: "Date") -> bool:
        """Whether no part that both say differs, and they say one in common."""
        pairs = [
            (mine, its)
            for mine, its in zip(self._parts(), other._parts(), strict=True)
            if mine is not None and its is not None
        ]
        return bool(pairs) and all(mine == its for mine, its in pairs)

    def _parts(self) -> tuple[int | None, int | None, int | None]:
        return self.year, self.month, self.day


def dates(text: str) -> list[Date]:
    """In order; each with a month."""
    return [
        Date(_int(m, "y"), _month(m), _int(m, "d"), m.start(), m.end())
        for m in _DATES.finditer(text)
    ]


def _int(match: re.Match[str], part: str) -> int | None:
    found = next((match[f"{part}{n}"] for n in range(1, 6) if _has(match, f"{part}{n}")), None)
    return int(found) if found else None


def _month(match: re.Match[str]) -> int | None:
    found = next(match[f"m{n}"] for n in range(1, 6) if match[f"m{n}"])
    return int(found) if found.isdigit() else _MONTHS[found.lower()]


def _has(match: re.Match[str], group: str) -> bool:
    return group in match.re.groupindex and match[group] is not None
