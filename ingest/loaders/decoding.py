"""Bytes of unknown encoding as text, or the clear error that they are no text."""

import codecs
import re

from ingest.errors import LoadError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its prefix
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 64 * 1024
_LOST = 0.3
"""Share of a text's characters that may be unreadable: of more, nothing can be quoted."""

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_ENCODINGS = re.compile(r"cp|iso|koi|mac|big5|gb|euc|shift|johab|tis|utf-8")
"""Those a page may declare. Python has others, punycode say, that take quadratic time."""

_WESTERN = frozenset("äöüÄÖÜßéèêëàâáãíìóòõúîïôùûçñæøåœÉÈÀÁÇÑÆØÅ€£§°©®·•«»¿¡–—‘’“”„…\xa0×½¼²³±µ™")


def decode(data: bytes, declared: str = "") -> str:
    """The text, by byte order mark, UTF-8, declared encoding or a guess, in this order.

    UTF-8 goes before the declared encoding: text that happens to be valid UTF-8 nearly always
    is, and pages that declare a wrong encoding are common.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _replaced(data, encoding)
    wide = _wide_encoding(data[:_SAMPLE])
    if wide:
        return _replaced(data, wide)
    _refuse_binary(data[:_SAMPLE])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _in_declared(data, declared) or _guessed(data)


def _wide_encoding(sample: bytes) -> str:
    """UTF-16 without a mark: in most scripts nearly every second byte is then zero."""
    if len(sample) < 4:
        return ""
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    return ""


def _refuse_binary(sample: bytes) -> None:
    if b"\x00" in sample or len(_CONTROL.findall(sample)) > len(sample) / 100:
        raise LoadError("It is binary data, not text.", code="broken")


def _in_declared(data: bytes, declared: str) -> str:
    try:
        encoding = codecs.lookup(declared).name
        if encoding in ("ascii", "iso8859-1"):
            encoding = "cp1252"  # as browsers do: nobody means the control characters
        return data.decode(encoding) if _ENCODINGS.match(encoding) else ""
    except (LookupError, ValueError):
        return ""


def _guessed(data: bytes) -> str:
    western = _replaced(data, "cp1252")
    foreign = [character for character in western[:_SAMPLE] if character > "\x7f"]
    # A guess from a handful of umlauts is a coin toss, and cp1252 is what they mostly are.
    if len(foreign) < 0.15 * min(len(western), _SAMPLE) and _WESTERN.issuperset(foreign):
        return western
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    if best is None:
        raise LoadError("Its character encoding is not known, or it is no text.", code="broken")
    return _replaced(data, best.encoding)


def _replaced(data: bytes, encoding: str) -> str:
    """The text with U+FFFD for what is no character, as long as that is little of it."""
    text = data.decode(encoding, errors="replace")
    if text.count("\ufffd") > len(text) * _LOST:
        raise LoadError("Its bytes are no valid text.", code="broken")
    return text
