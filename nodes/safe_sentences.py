"""What no sentence of an answer may hold, whoever wrote it: orders, and addresses from nowhere."""

import re

from nodes.findings import Citation, Sentence
from nodes.instructions import is_instruction
from nodes.ports import Sources

AROUND = 1_200
"""Code points on each side of a quote that count as its passage: about a chunk."""

_DOMAINS = (
    "com|org|net|io|ai|eu|de|es|fr|it|nl|at|ch|uk|us|co|me|tv|gl|ly|to|cc|ru|cn|info|biz|dev|app"
    "|xyz|top|click|link|site|online|shop|store|cloud|live|page|test|example|invalid|local"
)
_ADDRESS = re.compile(
    r"(?:(?:https?|ftp|file|wss?)://|(?:mailto|javascript|data|tel):(?=\S)|www\.)[^\s<>()\[\]\"'`]+"
    r"|[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63})+"
    rf"|(?<![\w@.\-])(?:[a-z0-9\-]{{1,63}}\.)+(?:{_DOMAINS})\b(?:[/?#][^\s<>()\[\]\"'`]*)?"
    r"|(?<![\w.])\+\d[\d ()/.\-]{6,20}\d",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\(\s*<?([^\s()<>]{0,2000})>?[^()]{0,300}\)")
_DEFINITION = re.compile(r"^(\s*)\[([^\[\]]{1,100})\](?=:)", re.MULTILINE)
_TAG = re.compile(
    r"<(?=/?(?:a|img|iframe|script|link|object|embed|video|audio|source|svg|form|input|button|style"
    r"|base|meta|picture|area|map|frame|frameset|template|math)\b"
    r"|[^<>]{0,500}?\b(?:on\w+|src|href|srcset|action|style)\s*=|(?:https?|mailto|javascript|data):)",
    re.IGNORECASE,
)


def unsafe(sentence: Sentence, sources: Sources) -> str:
    """Why a sentence may not be told, or nothing. Its citations must have been verified.

    An address is a link, a host, an e-mail address or an international phone number; it must
    stand in a passage that the sentence cites, or be where that was found.
    """
    if is_instruction(sentence.text):
        return "it reads as an order to a model"
    unknown = sorted(addresses(sentence.text) - _known(sentence.citations, sources))
    return f"no passage it cites holds the address {unknown[0]}" if unknown else ""


def addresses(text: str) -> set[str]:
    """The addresses of a text, written alike however they were put."""
    return {_alike(found.group()) for found in _ADDRESS.finditer(text)}


def dictated(query: str, *given: str) -> bool:
    """Whether a model was made to say it by what it read: an order to a model, or an address, that
    the asker's own words do not hold. A refusal shows what was searched for."""
    known = {one for text in given for one in addresses(text)}
    order = is_instruction(query) and not any(is_instruction(text) for text in given)
    return order or bool(addresses(query) - known)


def without_addresses(text: str) -> str:
    """The text with a space for each of its addresses: their digits are no amounts."""
    return _ADDRESS.sub(" ", text)


def plain(text: str) -> str:
    """The text without Markdown or HTML that a client would load or link: an address stays as text.

    `![chart](https://x.org/a.png)` becomes `chart (https://x.org/a.png)`, `<img` becomes `‹img`.
    """
    text = _LINK.sub(lambda found: f"{found[1]} ({found[2]})".lstrip(), text)
    text = _DEFINITION.sub(r"\1(\2)", re.sub(r"!+\[", "[", text))
    return _TAG.sub("‹", text)


def _known(citations: list[Citation], sources: Sources) -> set[str]:
    known: set[str] = set()
    for citation in citations:
        text = sources.texts.get((citation.document_id, citation.revision), "")
        passage = text[max(0, citation.start - AROUND) : citation.end + AROUND]
        known |= addresses(f"{passage} {citation.url or ''}")
    hosts = {re.split(r"[/?#]", address)[0] for address in known if "@" not in address}
    return known | hosts


def _alike(address: str) -> str:
    if address.startswith("+"):
        return "+" + "".join(c for c in address if c.isdigit())
    bare = re.sub(r"^(?:https?://|mailto:)?(?:www\.)?", "", address.casefold())
    return bare.rstrip(".,;:!?*_/'’”»")
