"""Other passages instead of the same again: near duplicates collapsed, few of one document or
folder, MMR; and of several versions of a document the newest."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from ingest.documents import Candidate
from nodes.sources import folder_of
from nodes.versions import replaced
from nodes.words import content_words

POOL = 30
"""Candidates that MMR orders; the others stay behind them."""

WEB = "/web"
"""No name of a folder."""

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Diversified:
    """Candidates in their new order, and what stands for which: near duplicates by chunk id."""

    candidates: list[Candidate]
    copies: dict[str, list[Candidate]] = field(default_factory=dict)
    moved: int = 0
    older: int = 0


def diversified(
    candidates: Sequence[Candidate],
    *,
    collapse: bool,
    per_document: int | None,
    mmr: float,
    per_source: int | None = None,
    newest_on: date | None = None,
) -> Diversified:
    """`per_document` candidates of each document come first, the others after all of those, and
    so `per_source` of each folder; `mmr` is the weight of relevance in [0, 1], 1 for the order as
    it is. With `newest_on` those of a document that another candidate's replaces by that day come
    last."""
    first, copies = _collapsed(candidates) if collapse else (list(candidates), {})
    order = first
    if per_document is not None:
        order = _few_of_each(order, per_document, lambda c: c.chunk.document_id)
    if per_source is not None:
        order = _few_of_each(order, per_source, _folder)
    if mmr < 1 and order:
        pool, rest = order[:POOL], order[POOL:]
        texts = [_terms(c.chunk.text) for c in pool]
        similarity = [[_cosine(one, other) for other in texts] for one in texts]
        order = [pool[i] for i in marginal([_relevance(c) for c in pool], similarity, mmr)] + rest
    moved = sum(a is not b for a, b in zip(first, order, strict=True))
    old = replaced(order, newest_on) if newest_on else set()
    older = [c for c in order if c.chunk.document_id in old]
    order = [c for c in order if c.chunk.document_id not in old] + older
    return Diversified(order, copies, moved, len(older))


def marginal(
    relevance: Sequence[float], similarity: Sequence[Sequence[float]], weight: float
) -> list[int]:
    """Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): places in the order in
    which weight * relevance - (1 - weight) * nearest of those before is highest; ties by place."""
    left = list(range(len(relevance)))
    order: list[int] = []
    while left:
        best = max(left, key=lambda i: (_margin(i, order, relevance, similarity, weight), -i))
        order.append(best)
        left.remove(best)
    return order


def stands_for(one: Candidate, other: Candidate) -> bool:
    """Whether nothing is lost where `one` stands for `other`: its words hold all of the other's in
    a row, whatever marks and spaces are between, and both are of the same standing.

    A word that differs, such as a city or a number in a text that is copied otherwise, is another
    statement.
    """
    ours, theirs = one.chunk, other.chunk
    if any(ours.metadata.get(k) != theirs.metadata.get(k) for k in ("status", "version", "trust")):
        return False
    return bool(one.url) == bool(other.url) and _words(theirs.text) in _words(ours.text)


def _collapsed(
    candidates: Sequence[Candidate],
) -> tuple[list[Candidate], dict[str, list[Candidate]]]:
    """The best of each group, and the others of it by the chunk id of the best."""
    kept: list[Candidate] = []
    copies: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        better = next((one for one in kept if stands_for(one, candidate)), None)
        if better is None:
            kept.append(candidate)
        else:
            copies.setdefault(better.chunk.chunk_id, []).append(candidate)
    return kept, copies


def _folder(candidate: Candidate) -> str:
    """The web is one source."""
    return WEB if candidate.url else folder_of(candidate.chunk.metadata.get("source", ""))


def _few_of_each(
    candidates: Sequence[Candidate], most: int, of: Callable[[Candidate], str]
) -> list[Candidate]:
    seen: Counter[str] = Counter()
    first: list[Candidate] = []
    later: list[Candidate] = []
    for candidate in candidates:
        seen[of(candidate)] += 1
        (first if seen[of(candidate)] <= most else later).append(candidate)
    return first + later


def _margin(
    i: int,
    before: Sequence[int],
    relevance: Sequence[float],
    similarity: Sequence[Sequence[float]],
    weight: float,
) -> float:
    nearest = max((similarity[i][j] for j in before), default=0.0)
    return weight * relevance[i] - (1 - weight) * nearest


def _relevance(candidate: Candidate) -> float:
    return candidate.scores.get("rerank", candidate.scores.get("fused", 0.0))


def _terms(text: str) -> Counter[str]:
    return Counter(content_words(text))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    norm = math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))
    return sum(n * other[word] for word, n in one.items()) / norm if norm else 0.0


def _words(text: str) -> str:
    return f" {' '.join(WORD.findall(text))} "
