"""The few metadata keys the index knows, as plain strings, out of whatever a file declares."""

import re
from collections.abc import Mapping

from ingest.documents import METADATA_KEYS, calendar_date
from ingest.errors import LoadError
from ingest.loaders.normalise import one_line

_ALIASES = {"lang": "language", "keywords": "tags"}
_STATUSES = ("current", "superseded", "draft")
_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)", re.ASCII)
_MAX_VALUE = 500


def known_metadata(declared: Mapping[str, object]) -> dict[str, str]:
    """The values of `METADATA_KEYS`. A value that breaks the contract of its key is dropped.

    Raises LoadError for a date that there is not: a document would else take part in no range and
    never be the newer of two versions, and nobody would know.
    """
    found: dict[str, str] = {}
    for name, value in declared.items():
        key = str(name).strip().lower()
        key = _ALIASES.get(key, key)
        if key in METADATA_KEYS and key not in found:
            if key == "acl":
                found[key] = _acl(value)
                continue
            text = _tags(value) if key == "tags" else _scalar(key, value)
            if text:
                found[key] = text[:_MAX_VALUE]
    return found


def _scalar(key: str, value: object) -> str:
    if not isinstance(value, str):
        return ""
    text = one_line(value)
    if key == "language":
        # "en-US" and "en_GB" would each need a filter of their own.
        return re.split(r"[-_]", text.lower())[0]
    if key == "status":
        return text.lower() if text.lower() in _STATUSES else ""
    if key == "trust":
        return "low" if text.lower() == "low" else ""
    if key == "effective":
        return _date(key, text)
    return text


def _date(key: str, text: str) -> str:
    """As YYYY-MM-DD. Words such as "soon" name none; what has a digit is meant as one."""
    match = _ISO_DATE.match(text)
    iso = "{}-{:0>2}-{:0>2}".format(*match.groups()) if match else text
    if calendar_date(iso) is not None:
        return iso
    if any(char.isdigit() for char in text):
        raise LoadError(
            f"Its {key} {text[:40]!r} is no date: write YYYY-MM-DD.", code="invalid_metadata"
        )
    return ""


def _acl(value: object) -> str:
    """Whole and as it was written: one that is cut or dropped would open the document."""
    entries = value if isinstance(value, list) else str(value).split(",")
    return ",".join(str(entry).strip() for entry in entries)


def _tags(value: object) -> str:
    if isinstance(value, str):
        value = re.split(r"[,;]", value)
    if not isinstance(value, list):
        return ""
    tags = [one_line(tag).replace(",", " ") for tag in value if isinstance(tag, str)]
    return ",".join(tag for tag in tags if tag)
