"""Sentences of documents that state a value, as a golden question may ask for it."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from eval.labels import holds_words, plain, states_quote
from graph.adapters.question_signs import NAME
from ingest.documents import Chunk
from ingest.ports import DocumentRecord
from ingest.sentences import sentence_spans
from nodes.answer_type import holds_type
from nodes.words import ALL_STOP_WORDS, content_words, guess_language, literals

Kind = Literal["duration", "money", "percent", "date", "code", "count", "name", "cell"]

SHORTEST, LONGEST = 30, 260
"""Code points of a sentence that is asked about: shorter ones say little, longer ones too much."""

FEWEST_WORDS = 4
"""Content words of such a sentence."""

_NUMBER = r"(?<![\w.,\-])\d+(?:[.,]\d+)*"
_MONTH = (
    r"(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|March|März|April|Ma[yi]|Jun[ei]|Jul[yi]|Aug(?:ust)?"
    r"|Sep(?:t|tember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?|enero|febrero|marzo|abril"
    r"|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_VALUES: list[tuple[Kind, re.Pattern[str]]] = [
    (
        "date",
        re.compile(
            rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.? (?:de )?{_MONTH}(?: (?:de )?\d{{4}})?\b"
            rf"|\b{_MONTH} \d{{1,2}}(?:, \d{{4}})?\b|\b\d{{1,2}}:\d\d\b"
        ),
    ),
    ("money", re.compile(rf"(?:EUR|USD|GBP|CHF|[€$£]) ?\d[\d.,]*\d|{_NUMBER} ?(?:€|EUR\b|USD\b)")),
    ("percent", re.compile(rf"{_NUMBER} ?(?:%|percent\b|Prozent\b|por ciento\b)")),
    (
        "count",
        re.compile(
            rf"(?<!day )(?<!status )(?<!version )(?<!step ){_NUMBER}"
            r"(?: (?:business|working|calendar|full))?[ \-][^\W\d_]{3,}"
        ),
    ),
    ("code", re.compile(r"(?<!\w)(?:[A-Z]{1,12}-\d[\w\-]*|[a-z0-9]+(?:_[a-z0-9]+)+)(?!\w)")),
]
_MARKER = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,3}[.)])\s+")


@dataclass(frozen=True)
class Fact:
    """A sentence with the value it states; `cells` are those of a table row, by their header."""

    document: str
    title: str
    heading: str
    sentence: str
    value: str
    kind: Kind
    language: str
    cells: tuple[tuple[str, str], ...] = ()


def facts_of(document: DocumentRecord, text: str, chunks: Sequence[Chunk]) -> list[Fact]:
    """At most one of each sentence, in an order that goes from passage to passage."""
    spans = sentence_spans(text)
    passages = [list(_stated(document, text, spans, chunk)) for chunk in chunks]
    passages = [sorted(found, key=_weakness) for found in passages if found]
    passages.sort(key=lambda found: _weakness(found[0]))
    longest = max(map(len, passages), default=0)
    turns = [found[turn] for turn in range(longest) for found in passages if turn < len(found)]
    return list({plain(fact.sentence): fact for fact in reversed(turns)}.values())[::-1]


def spread(key: str) -> str:
    """A place in an order that is the same everywhere and mixes neighbours."""
    return hashlib.sha256(key.encode()).hexdigest()


def _stated(
    document: DocumentRecord, text: str, spans: Sequence[tuple[int, int]], chunk: Chunk
) -> Iterator[Fact]:
    language = document.metadata.get("language", "")[:2] or guess_language(chunk.text)
    title = document.title or document.source
    heads = {plain(part) for part in [title, *chunk.heading.split(" > ")]}
    for start, end in spans:
        sentence = text[start:end]
        inside = chunk.start <= start and end <= chunk.end and SHORTEST <= end - start <= LONGEST
        if not inside or plain(sentence) in heads or not states_quote(chunk.text, sentence):
            continue
        cells = _cells(sentence)
        value = _cell_value(cells) if cells else _value(sentence, language)
        if value is not None and holds_words(sentence, value[1]):
            kind, said = value
            yield Fact(document.source, title, chunk.heading, sentence, said, kind, language, cells)


def _value(sentence: str, language: str) -> tuple[Kind, str] | None:
    """The one value that a sentence states; None for several of a kind, which one is meant is
    not known, and for what is no sentence."""
    body = _MARKER.sub("", sentence, count=1) if _MARKER.match(sentence) else sentence
    if not body.endswith((".", "!", "。")) or len(content_words(body)) < FEWEST_WORDS:
        return None
    for kind, pattern in _VALUES:
        matches = list(pattern.finditer(body))
        if kind == "count" and language != "de":  # where every noun has a capital
            matches = [match for match in matches if not _numbers(body, match)]
        found = [match.group() for match in matches]
        if len(found) == 1 and not _is_bare(found[0]):
            timed = kind == "count" and holds_type(found[0], "duration")
            return ("duration" if timed else kind), found[0]
        if found:
            return None
    names = [] if language == "de" else re.findall(r"(?<=[a-z] )[A-Z]\w+ [A-Z]\w+\b", body)
    return ("name", names[0]) if len(names) == 1 and NAME.search(body) else None


def _numbers(body: str, match: re.Match[str]) -> bool:
    """Whether the number belongs to the name before it, as in `Q-Hub 100 stays`."""
    before = body[: match.start()].split()
    return match.group()[0].isdigit() and len(before) > 1 and before[-1][0].isupper()


def _is_bare(value: str) -> bool:
    """A number before a word that counts nothing, such as `5 and`."""
    return value.split()[-1] in ALL_STOP_WORDS


def _cells(row: str) -> tuple[tuple[str, str], ...]:
    parts = [part.partition(": ") for part in row.split(" | ")]
    whole = len(parts) > 1 and all(mark and head and cell for head, mark, cell in parts)
    return tuple((head.strip(), cell.strip()) for head, _, cell in parts) if whole else ()


def _cell_value(cells: Sequence[tuple[str, str]]) -> tuple[Kind, str] | None:
    """The first cell that holds a number or a code, beside the one that names the row; where that
    one is a code itself, the first that is no longer than an answer."""
    coded = bool(literals(cells[0][1]))
    for _, cell in cells[1:]:
        told = coded or any(c.isdigit() for c in cell) or literals(cell)
        if told and len(cell) <= 60 and not holds_words(cells[0][1], cell):
            return "cell", cell
    return None


_ORDER: dict[Kind, int] = {
    "duration": 0, "money": 0, "percent": 0, "date": 1, "count": 1, "code": 1, "cell": 1, "name": 3,
}  # fmt: skip
_LEANING = re.compile(
    r"\W*(?:it|they|this|that|these|those|he|she|er|es|sie|dies\w*|est[eao]s?)\b", re.IGNORECASE
)


def _weakness(fact: Fact) -> tuple[int, str]:
    leaning = 4 if _LEANING.match(fact.sentence) else 0  # its subject stands in another sentence
    return _ORDER[fact.kind] + leaning, spread(fact.sentence)
