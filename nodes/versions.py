"""Which documents are older versions of others: they come last, so that the newest wins."""

import re
from collections.abc import Sequence
from datetime import date

from ingest.documents import Candidate
from nodes.conflicts import newer
from nodes.trust import trust

EDITION = re.compile(
    r"\b(?:version|v|rev(?:ision)?|ausgabe|versión)\W{0,2}(\d+(?:\.\d+)*)\b"
    r"|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
"""What sets versions of one title apart. A year alone makes none the newer: the games of one year
do not replace those of another. Any other number is of the title itself: the data sheet of one
product does not replace that of another, nor the notes of June those of May."""

MOST_TRUSTED = 2
"""Of nodes/trust.py."""

Family = tuple[str, str]
"""(title without its version, language)"""


def replaced(candidates: Sequence[Candidate], today: date) -> set[str]:
    """Ids of the documents that the document of another candidate replaces: it names them in
    `supersedes`, or has the same title but for its version or year, and its date or version is the
    later. What is not yet in force replaces nothing, nor does the web, nor what is of low trust
    anything that is trusted."""
    documents = {c.chunk.document_id: c for c in candidates if not c.url}
    in_force = [c for c in documents.values() if _effective(c) <= today.isoformat()]
    comparable = [c for c in in_force if _is_comparable(c)]
    newest: dict[tuple[Family, int], Candidate] = {}
    for one in comparable:
        place = _family(one), trust(one)
        if place not in newest or _is_newer(one, newest[place]):
            newest[place] = one
    found = {
        old.chunk.document_id
        for old in comparable
        for level in range(trust(old), MOST_TRUSTED + 1)
        if _is_newer(newest.get((_family(old), level), old), old)
    }
    by_source = {c.chunk.metadata.get("source", ""): c for c in documents.values()}
    for one in in_force:
        named = by_source.get(one.chunk.metadata.get("supersedes") or "/")
        if named is not None and named is not one and trust(one) >= trust(named):
            found |= set() if newer(named, one) else {named.chunk.document_id}
    return found


def replacing(candidates: Sequence[Candidate], today: date) -> set[str]:
    """Ids of the documents that replace another candidate's and are replaced by none: without them
    what was before is left."""
    one_each = list({c.chunk.document_id: c for c in candidates}.values())
    old = replaced(one_each, today)
    return {
        new.chunk.document_id
        for new in one_each
        for other in one_each
        if other.chunk.document_id in old - {new.chunk.document_id}
        and replaced([new, other], today) == {other.chunk.document_id}
    } - old


def _effective(candidate: Candidate) -> str:
    return candidate.chunk.metadata.get("effective", "")


def _is_comparable(candidate: Candidate) -> bool:
    """Many documents may have one title, and nothing that tells which is newer."""
    title, _ = _family(candidate)
    known = candidate.chunk.metadata.keys() & {"effective", "version"}
    return bool(title) and bool(known or _version(candidate))


def _family(candidate: Candidate) -> Family:
    chunk = candidate.chunk
    title = re.findall(r"\w+", EDITION.sub(" ", chunk.title).casefold())
    return " ".join(title), chunk.metadata.get("language", "")


def _is_newer(one: Candidate, other: Candidate) -> bool:
    if trust(one) < trust(other) or newer(other, one):
        return False
    if newer(one, other):
        return True
    return _version(one) > _version(other) > ()


def _version(candidate: Candidate) -> tuple[int, ...]:
    """Of its title; () where that has none."""
    texts = [match[1] for match in EDITION.finditer(candidate.chunk.title) if match[1]]
    return tuple(map(int, texts[0].split("."))) if texts else ()
