"""Access lists: who of a tenant may read a document or a knowledge base."""

import unicodedata
from collections.abc import Mapping, Sequence

from ingest.errors import InvalidRequest, LoadError
from ingest.scope import EVERYONE

KINDS = ("user:", "group:")
MAX_ENTRIES = 100
MAX_NAME = 200


def parse_acl(entries: Sequence[str]) -> list[str]:
    """Each once: `*` for everyone of the tenant, `user:NAME`, `group:NAME`.

    Raises InvalidRequest for anything else: a list that is not understood opens nothing.
    """
    if not 0 < len(entries) <= MAX_ENTRIES:
        raise InvalidRequest(f"an access list has 1 to {MAX_ENTRIES} entries")
    found = [_entry(entry) for entry in entries]
    return [EVERYONE] if EVERYONE in found else list(dict.fromkeys(found))


def everyone() -> list[str]:
    return [EVERYONE]


def both(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Those whom both lists admit by name; nobody where they share none."""
    if EVERYONE in one:
        return list(other)
    return list(one) if EVERYONE in other else [entry for entry in one if entry in other]


def check_declared(metadata: Mapping[str, str]) -> None:
    """Raises LoadError for a document whose own access list is not understood."""
    declared = metadata.get("acl")
    if declared is not None:
        try:
            parse_acl(declared.split(","))
        except InvalidRequest as error:
            raise LoadError(f"Its acl is not understood: {error}", code="invalid_acl") from None


def checked_name(name: str) -> str:
    """The name of a user or group. Raises InvalidRequest."""
    odd = any(unicodedata.category(char)[0] == "C" for char in name)
    if not name.strip() or name != name.strip() or odd or len(name) > MAX_NAME or "," in name:
        raise InvalidRequest(
            f"the name of a user or group has 1 to {MAX_NAME} printable characters and no comma"
        )
    return name


def _entry(entry: str) -> str:
    if entry == EVERYONE:
        return entry
    for kind in KINDS:
        if entry.startswith(kind):
            return kind + checked_name(entry.removeprefix(kind))
    raise InvalidRequest(f"access {entry[:40]!r}: neither *, user:NAME nor group:NAME")
