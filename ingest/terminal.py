"""What a command shows: nothing that came from outside moves the cursor, rings or recolours."""

import json
import re
from collections.abc import Sequence
from typing import IO, Any

from ingest.loaders.normalise import INVISIBLE, one_line, printable

_UNSEEN = re.compile(f"{INVISIBLE.pattern}|[\x85\u2028\u2029]")


def say(text: str, file: IO[str] | None = None) -> None:
    """Prints it without what a terminal would obey; on standard output where no file is named."""
    print(printable(text), file=file)


def counted(n: int, noun: str) -> str:
    """`1 passage`, `2 passages`: for nouns that take an s."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with a header, each column as wide as its widest text."""
    shown = [titles, *([one_line(printable(text)) for text in row] for row in rows)]
    widths = [max(len(row[n]) for row in shown) for n in range(len(titles))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]


def say_json(document: Any) -> None:
    """The one document on standard output, unchanged: what nobody sees is escaped."""
    print(_UNSEEN.sub(_escaped, json.dumps(document, ensure_ascii=False, indent=2)))


def _escaped(character: re.Match[str]) -> str:
    units = character.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))
