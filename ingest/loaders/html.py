"""Loads HTML: the main content of a page, with what its head declares."""

import re
from typing import Any

from lxml.etree import fromstring  # type: ignore[import-untyped]
from lxml.html import HTMLParser  # type: ignore[import-untyped]

from ingest.errors import LoadError
from ingest.loaders.assembly import Assembly, Extract
from ingest.loaders.decoding import decode
from ingest.loaders.html_blocks import add_blocks
from ingest.loaders.metadata import known_metadata
from ingest.loaders.normalise import clean

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_HEAD = 4096


def load_html(data: bytes) -> Extract:
    """The blocks of `main` or a lone `article` where there is one, else of the whole page."""
    declared = _CHARSET.search(data[:_HEAD])
    page = _parse(decode(data, declared[1].decode("ascii") if declared else ""))
    if page is None:
        return Extract(Assembly())
    assembly = Assembly()
    for root in (_main_content(page), page):
        add_blocks(assembly, root)
        if assembly.blocks:
            break
    return Extract(
        assembly,
        property_title=page.findtext(".//title") or "",
        metadata=known_metadata(_declared(page)),
    )


def add_html(assembly: Assembly, fragment: str) -> None:
    """Append the blocks of a piece of HTML, such as one inside Markdown."""
    page = _parse(fragment)
    if page is not None:
        add_blocks(assembly, page)


def _parse(source: str) -> Any:
    """The root element, or None where there is nothing to see."""
    # Cleaned first, for a NUL byte would end the document. Encoded, for text that declares an
    # encoding is refused. Huge, for else what lies deeper than 256 elements is lost.
    data = clean(source).strip().encode()
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    page = fromstring(data, parser) if data else None
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise LoadError("Its elements are nested too deeply to be read.", code="broken")
    return page


def _main_content(page: Any) -> Any:
    main = page.find(".//main")
    if main is None:
        main = page.find(".//*[@role='main']")
    if main is not None:
        return main
    articles = page.findall(".//article")
    return articles[0] if len(articles) == 1 else page


def _declared(page: Any) -> dict[str, object]:
    metas = page.iterfind(".//meta[@name]")
    declared: dict[str, object] = {meta.get("name"): meta.get("content", "") for meta in metas}
    return {**declared, "lang": page.get("lang", "")}
