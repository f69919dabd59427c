"""Loads plain text: paragraphs between blank lines, list items, wrapped lines joined."""

from ingest.loaders.assembly import Assembly, Extract
from ingest.loaders.decoding import decode
from ingest.loaders.normalise import clean
from ingest.loaders.wrapping import hyphenated_words, is_list_item, page_width, paragraphs

_NARROWEST = 60
"""Characters. Mail and README files are wrapped at 65 to 80; shorter lines were meant."""


def load_text(data: bytes) -> Extract:
    """The text of the file; it declares no title and no metadata."""
    text = clean(decode(data))
    lines = [line.strip() for line in text.split("\n")]
    assembly = Assembly()
    for paragraph in paragraphs(lines, page_width(lines, _NARROWEST), hyphenated_words(text)):
        assembly.add("list_item" if is_list_item(paragraph) else "paragraph", paragraph)
    return Extract(assembly)
