"""What nobody but the asker should read: found in any text, and masked in traces and logs."""

import re
from collections.abc import Mapping
from typing import Any

_E_MAIL = r"(?<![\w.+\-])[\w.+\-]{1,200}@[\w\-]{1,63}(?:\.[\w\-]{1,63})+"
_KEY = (
    r"\b(?:(?:sk|pk|rk)[_\-](?=[\w\-]{0,40}\d)[\w\-]{12,}|(?:ghp|gho|ghs|ghu|hf|npm)_\w{12,}"
    r"|github_pat_\w{12,}|glpat-[\w\-]{12,}|xox[abprs]-[\w\-]{10,}|tvly-[\w\-]{12,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w\-]{20,}|eyJ[\w\-]{12,}(?:\.[\w\-]*)*)"
    r"|crag_[0-9a-f]{12}_[\w\-]{20,}"
)
"""Keys by their prefixes, and tokens by the head of every JSON Web Token. This service's own are
known wherever they stand, also inside of a word."""

_PEM = "[A-Z ]{0,40}PRIVATE KEY-----"
_PRIVATE_KEY = rf"-----BEGIN {_PEM}(?:[^\-]|-(?!----)){{0,10000}}(?:-----END {_PEM})?"
_BEARER = r"\b(?i:bearer|basic)\s+(?=\S{0,60}\d)[A-Za-z0-9._~+/\-]{16,}=*"
_IN_ADDRESS = r"(?<=://)[^\s/@:]{0,200}:[^\s/@]{1,200}(?=@)"
_NAMED = (
    r"\b(?i:api[_\- ]?key|access[_\- ]?key|token|password|passwort|passwd|kennwort|contraseña"
    r"|secret)[\"']?\s*[:=]\s*[\"']?[^\s\"'\[]+"
)
_IBAN = r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"
_CARD = r"(?<![\w.])\d(?:[ \-]?\d){12,18}(?![\w])"

PRIVATE = re.compile(
    f"(?P<private_key>{_PRIVATE_KEY})|(?P<address>{_IN_ADDRESS})|(?P<bearer>{_BEARER})"
    f"|(?P<named>{_NAMED})|(?P<key>{_KEY})|(?P<e_mail>{_E_MAIL})"
    f"|(?P<iban>{_IBAN})|(?P<card>{_CARD})"
)
_IDENTIFIERS = frozenset(
    "run_id chunk_id document_id revision quote_sha256 index_version started_at".split()
)
_HEXADECIMAL = re.compile(r"[0-9a-f\-]{8,64}")


def masked(text: str) -> str:
    """The text with `[e-mail]`, `[secret]`, `[card]` and `[IBAN]` for what is private in it.

    Cards and bank accounts only where their checksum is right (ISO/IEC 7812-1 and 13616-1): other
    long numbers are what documents are about. Masking twice changes nothing.
    """
    # Again until nothing changes: what stood right behind a secret begins a word only then.
    while (once := PRIVATE.sub(_mask, text)) != text:
        text = once
    return text


def masked_json(value: Any, key: str = "") -> Any:
    """A JSON value with every text in it masked, and ids as they are."""
    if isinstance(value, str):
        is_id = key in _IDENTIFIERS and _HEXADECIMAL.fullmatch(value)
        return value if is_id else masked(value)
    if isinstance(value, Mapping):
        return {name: masked_json(inner, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked_json(inner, key) for inner in value]
    return value


def _mask(found: re.Match[str]) -> str:
    text = found.group()
    match found.lastgroup:
        case "e_mail":
            return "[e-mail]"
        case "iban":
            return "[IBAN]" if _is_iban(text) else text
        case "card":
            return "[card]" if _is_card(text) else text
        case "named":
            return re.sub(r"([:=]\s*[\"']?)[^\s\"'\[]+\Z", r"\1[secret]", text)
        case "bearer":
            return text.split()[0] + " [secret]"
        case _:
            return "[secret]"


def _is_iban(text: str) -> bool:
    compact = text.replace(" ", "")
    turned = compact[4:] + compact[:4]
    return len(compact) <= 34 and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _is_card(text: str) -> bool:
    digits = [int(c) for c in reversed(text) if c.isdigit()]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return len(set(digits)) > 1 and (sum(digits[::2]) + doubled) % 10 == 0
