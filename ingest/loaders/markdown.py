"""Loads Markdown: CommonMark and tables, inline markup reduced to what a reader sees."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.loaders.assembly import Assembly, Extract
from ingest.loaders.decoding import decode
from ingest.loaders.front_matter import split_front_matter
from ingest.loaders.hiding import tag_hides
from ingest.loaders.metadata import known_metadata
from ingest.loaders.normalise import clean, one_line

_MAX_NESTING = 100
_LONGEST_INLINE = 10_000
"""Characters. A longer paragraph keeps its markup: brackets take the parser quadratic time."""

_PLACEHOLDER = re.compile(r"<([a-z][\w.-]*|[A-Z][A-Z0-9_.-]*)>")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)(?![^>]*/>)")
_ALERT = re.compile(r"\A\[!(\w+)\]\s*")


def load_markdown(data: bytes) -> Extract:
    """Headings, paragraphs, list items, table rows and code of the file, without front matter."""
    declared, body = split_front_matter(clean(decode(data)))
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable("inline")
    references: dict[str, Any] = {}
    reader = _Reader(lambda source: _visible_text(parser, references, source))
    for token in parser.parse(body, references):
        reader.take(token)
    title = declared.get("title")
    return Extract(
        reader.assembly,
        title=title if isinstance(title, str) else "",
        metadata=known_metadata(declared),
    )


@dataclass
class _Reader:
    """Turns the parser's stream of tokens into blocks, one token after the other."""

    visible_text: Callable[[str], str]
    assembly: Assembly = field(default_factory=Assembly)
    _heading: int = 0
    _bullet: str = ""
    _counters: list[int | None] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _in_table: bool = False

    def take(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._add(self.visible_text(token.content))
            case "heading_open":
                self._heading = int(token.tag[1:]) if token.level == 0 else 0
            case "heading_close":
                self._heading = 0
            case "bullet_list_open":
                self._counters.append(None)
            case "ordered_list_open":
                self._counters.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                self._counters.pop()
            case "list_item_open":
                self._open_item()
            case "list_item_close":
                self._bullet = ""
            case "fence" | "code_block":
                self.assembly.add("code", token.content)
            case "html_block":
                from ingest.loaders.html import add_html

                add_html(self.assembly, token.content)
            case "table_open":
                self._rows, self._in_table = [], True
            case "tr_open":
                self._rows.append([])
            case "table_close":
                self.assembly.add_table(self._rows[0], self._rows[1:])
                self._in_table = False

    def _open_item(self) -> None:
        number = self._counters[-1]
        self._bullet = "- " if number is None else f"{number}. "
        if number is not None:
            self._counters[-1] = number + 1

    def _add(self, text: str) -> None:
        if self._in_table:
            self._rows[-1].append(text)
        elif self._bullet:
            self.assembly.add("list_item", self._bullet + text, level=len(self._counters) - 1)
            self._bullet = ""
        elif self._heading:
            self.assembly.add("heading", text, level=self._heading)
        else:
            self.assembly.add("paragraph", _ALERT.sub(lambda m: f"{m[1].capitalize()}: ", text))


def _visible_text(parser: MarkdownIt, references: dict[str, Any], source: str) -> str:
    """The text a reader sees; a hard break is a line end, a soft one a space."""
    if len(source) > _LONGEST_INLINE:
        return one_line(source)
    tokens: list[Token] = []
    parser.inline.parse(source, parser, references, tokens)
    return "".join(map(_visible, _unhidden(tokens)))


def _unhidden(tokens: list[Token]) -> Iterator[Token]:
    """Without what stands in a tag that hides it, up to where that tag ends."""
    hiding, depth = "", 0
    for token in tokens:
        tag = _TAG.match(token.content) if token.type == "html_inline" else None
        if hiding:
            if tag is not None and tag[2].lower() == hiding:
                depth += -1 if tag[1] else 1
            hiding = hiding if depth else ""
        elif tag is not None and not tag[1] and tag_hides(token.content):
            hiding, depth = tag[2].lower(), 1
        else:
            yield token


def _visible(token: Token) -> str:
    match token.type:
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "html_inline":
            return _visible_tag(token.content)
        case _:
            return token.content


def _visible_tag(tag: str) -> str:
    """Nothing for markup; `<name>` in `ingest --kb <name>` is text that only looks like it."""
    from lxml.html.defs import tags  # type: ignore[import-untyped]

    placeholder = _PLACEHOLDER.fullmatch(tag)
    if tag.lower().startswith("<br"):
        return "\n"
    return tag if placeholder and placeholder[1].lower() not in tags else ""
