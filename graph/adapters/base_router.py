"""Which knowledge base a question is for: by what they say of themselves, and by their titles."""

import asyncio
import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ingest.ports import Embedder, KnowledgeBase, Vector
from ingest.records import DocumentRecord
from ingest.scope import Scope
from nodes.words import guess_language, stems

K1, B = 1.2, 0.75
"""Of BM25 (Robertson and Zaragoza, 2009), as it is mostly set."""

TITLES = 1.0
"""Weight of the titles' share against a cosine."""

KEPT_TEXTS, KEPT_TITLES = 4_096, 128
"""Vectors of descriptions and examples, and bases whose titles were read, that are kept."""


class Index(Protocol):
    """ingest.index.Index is the one implementation."""

    async def documents(self, scope: Scope, knowledge_base: str) -> list[DocumentRecord]: ...

    async def version(self, scope: Scope, knowledge_base: str) -> str: ...


class Bases(Protocol):
    """ingest.live.LiveBases is the one implementation."""

    async def bases(self, scope: Scope) -> list[KnowledgeBase]: ...


@dataclass(frozen=True)
class Titles:
    """The titles of a base by term: (which title, how often), and the terms of each."""

    postings: dict[str, list[tuple[int, int]]]
    lengths: list[int]


class BaseRouter:
    """A score is the best cosine of the question with the description or an example of the base,
    plus how much of the question stands in one title of it, in [0, 1]: BM25 over its possible
    most. Only titles that the scope may read count."""

    def __init__(self, embedder: Embedder, index: Index, bases: Bases) -> None:
        self._embedder = embedder
        self._index = index
        self._bases = bases
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._titles: OrderedDict[tuple[str, str, str], Titles] = OrderedDict()

    async def scores(self, scope: Scope, question: str, bases: Sequence[str]) -> dict[str, float]:
        known = {base.name: base for base in await self._bases.bases(scope)}
        told = {name: profile(known[name]) for name in bases if name in known}
        await self._embed([text for texts in told.values() for text in texts])
        asked = (await self._embedder.embed([question], role="question"))[0]
        titles = {name: await self._read(scope, name) for name in told}
        shares = title_shares(question, titles)
        return {
            name: max(float(asked @ self._vectors[text]) for text in texts) + TITLES * shares[name]
            for name, texts in told.items()
        }

    async def _embed(self, texts: list[str]) -> None:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            made = await self._embedder.embed(missing)
            self._vectors |= {t: np.asarray(v) for t, v in zip(missing, made, strict=True)}
        for text in texts:
            self._vectors.move_to_end(text)
        while len(self._vectors) > max(KEPT_TEXTS, len(texts)):
            self._vectors.popitem(last=False)

    async def _read(self, scope: Scope, name: str) -> Titles:
        key = (scope.fingerprint, name, await self._index.version(scope, name))
        if key not in self._titles:
            documents = await self._index.documents(scope, name)
            self._titles[key] = await asyncio.to_thread(read_titles, documents)
        self._titles.move_to_end(key)
        found = self._titles[key]
        while len(self._titles) > KEPT_TITLES:
            self._titles.popitem(last=False)
        return found


def profile(base: KnowledgeBase) -> list[str]:
    """What the base says of itself; where it says nothing its name."""
    told = [text.strip() for text in (base.description, *base.examples) if text.strip()]
    return told or [" ".join(base.name.replace("_", "-").split("-"))]


def read_titles(documents: Sequence[DocumentRecord]) -> Titles:
    titles = Titles({}, [])
    for number, document in enumerate(documents):
        terms = Counter(_terms(document.title))
        titles.lengths.append(sum(terms.values()))
        for term, times in terms.items():
            titles.postings.setdefault(term, []).append((number, times))
    return titles


def title_shares(question: str, titles: dict[str, Titles]) -> dict[str, float]:
    """For each base the best BM25 of a title, over the most that the question could reach. How
    rare a term is counts over the titles of all the bases."""
    terms = _terms(question)
    total = sum(len(one.lengths) for one in titles.values())
    mean = sum(sum(one.lengths) for one in titles.values()) / max(1, total) or 1.0
    held = {t: sum(len(one.postings.get(t, ())) for one in titles.values()) for t in terms}
    rarity = {t: math.log(1 + (total - n + 0.5) / (n + 0.5)) for t, n in held.items()}
    most = (K1 + 1) * sum(rarity.values())
    best = {}
    for name, one in titles.items():
        scores: dict[int, float] = defaultdict(float)
        for term in terms:
            for number, times in one.postings.get(term, ()):
                length = K1 * (1 - B + B * one.lengths[number] / mean)
                scores[number] += rarity[term] * times * (K1 + 1) / (times + length)
        best[name] = max(scores.values(), default=0) / most if most else 0.0
    return best


def _terms(text: str) -> list[str]:
    return stems(text, guess_language(text))
