"""The sources of a base: the first folders of its documents' paths."""

from collections.abc import Sequence

from ingest.filters import Condition, Filters
from ingest.records import DocumentRecord

MOST = 8
"""Sources of a base that are searched apart; the smallest of more are searched as one, so that
one question makes no hundred searches."""

REST = "others"
"""What those are called together."""


def folder_of(source: str) -> str:
    """The first folder of a path in the base; empty for a file beside the folders."""
    folder, slash, _ = source.partition("/")
    return folder if slash else ""


def sources_of(documents: Sequence[DocumentRecord]) -> dict[str, Filters]:
    """What limits a search to each source, the largest first; none where there is one source."""
    ids: dict[str, list[str]] = {}
    for document in documents:
        ids.setdefault(folder_of(document.source), []).append(document.document_id)
    by_size = sorted(ids, key=lambda name: (-len(ids[name]), name))
    apart = by_size if len(by_size) <= MOST else by_size[: MOST - 1]
    found = {name or ".": ids[name] for name in apart}
    if rest := [key for name in by_size[len(apart) :] for key in ids[name]]:
        found[REST] = [*found.get(REST, []), *rest]
    if len(found) < 2:
        return {}
    return {name: Filters([Condition("document_id", own)]) for name, own in found.items()}
