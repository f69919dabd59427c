"""The rows of an HTML table, each as a line that can be read alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ingest.loaders.assembly import row_text
from ingest.loaders.html_text import is_dropped, visible_text
from ingest.loaders.normalise import one_line

_NUMBER = re.compile(r"\s*([0-9]{1,4})")
_MAX_SPAN = 50
_MAX_HEADER_ROWS = 3


@dataclass(frozen=True)
class _Row:
    cells: list[str]
    """One for each column: the text of a cell that spans several is repeated."""

    is_header: bool
    names_itself: bool
    """A heading cell and a value, as in the boxes of an encyclopedia."""


def is_data_table(table: Any) -> bool:
    """Whether the table holds data; one with a single column or a table inside is layout."""
    if table.get("role") == "presentation" or table.find(".//table") is not None:
        return False
    return any(len(row.findall("td")) + len(row.findall("th")) > 1 for row in table.iter("tr"))


def table_rows(table: Any) -> Iterator[str]:
    """The body rows with their headers; the header row itself where nothing follows it."""
    rows = list(_rows(table))
    count = 0
    while count < min(len(rows), _MAX_HEADER_ROWS) and rows[count].is_header:
        count += 1
    headers = _merged([row.cells for row in rows[:count]])
    if count == len(rows):
        yield row_text([], headers)
    for row in rows[count:]:
        if row.names_itself and not headers:
            yield row_text(row.cells[:1], row.cells[1:])
        else:
            yield row_text(headers if len(row.cells) > 1 else [], row.cells)


def _rows(table: Any) -> Iterator[_Row]:
    spanning: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        if is_dropped(row):
            continue
        sources = [cell for cell in row if cell.tag in ("td", "th") and not is_dropped(cell)]
        if not sources:
            continue
        is_header = row.getparent().tag == "thead" or all(cell.tag == "th" for cell in sources)
        names_itself = [cell.tag for cell in sources] == ["th", "td"]
        if len(sources) == 1 and not spanning:
            yield _Row([one_line(visible_text(sources[0]))], is_header=False, names_itself=False)
        else:
            yield _Row(_columns(sources, spanning), is_header, names_itself)


def _columns(sources: list[Any], spanning: dict[int, tuple[int, str]]) -> list[str]:
    """The texts by column; `spanning` carries cells that reach down into the next rows."""
    columns: list[str] = []

    def carry_down() -> None:
        while len(columns) in spanning:
            rows_left, text = spanning.pop(len(columns))
            if rows_left > 1:
                later[len(columns)] = (rows_left - 1, text)
            columns.append(text)

    later: dict[int, tuple[int, str]] = {}
    for cell in sources:
        carry_down()
        text = one_line(visible_text(cell))
        for _ in range(_span(cell, "colspan")):
            if _span(cell, "rowspan") > 1:
                later[len(columns)] = (_span(cell, "rowspan") - 1, text)
            columns.append(text)
    carry_down()
    spanning.clear()
    spanning.update(later)
    return columns


def _span(cell: Any, name: str) -> int:
    number = _NUMBER.match(cell.get(name, ""))
    return min(max(int(number[1]), 1), _MAX_SPAN) if number else 1


def _merged(header_rows: list[list[str]]) -> list[str]:
    """Several header rows as one: "2024" over "Revenue" is "2024 Revenue"."""
    width = max(map(len, header_rows), default=0)
    columns = [[row[column] for row in header_rows if column < len(row)] for column in range(width)]
    return [" ".join(dict.fromkeys(filter(None, names))) for names in columns]
