"""Scores claims against their sources: by rules alone, or by rules and the embedder, calibrated."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from graph.adapters.claim_model import ClaimModel
from graph.adapters.claim_reading import read_text
from graph.adapters.claim_rules import Signs, objection, rule_signs
from graph.adapters.claim_signs import ClaimSigns, Passage, claim_signs, window_by_words
from graph.adapters.claim_source import Part, pieces
from ingest.documents import Chunk
from ingest.passage_vectors import PassageVectors
from ingest.ports import Embedder, Encoded
from nodes.findings import SourceSpan

UNKNOWN = 0.5
KEPT = 64
"""Scores that are kept: a few answers with their repairs."""

Key = tuple[str, tuple[Part, ...]]


@dataclass(frozen=True)
class Claim:
    """A sentence and what it cites, at least one part."""

    text: str
    parts: list[Part]


@dataclass(frozen=True)
class ClaimScore:
    """`probability` in [0, 1] that the source supports the claim.

    `objection` is what speaks against it, or empty; `against` where the source says otherwise,
    not merely nothing. No claim with an objection may pass on its probability alone.
    """

    probability: float
    span: SourceSpan | None = None
    objection: str = ""
    against: bool = False


class ClaimScorer(Protocol):
    """A score for each claim, in the order given. Raises ServiceError where it cannot run."""

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]: ...


class KeptVectors(Protocol):
    """Token vectors of passages, in the order given, computed where they are not kept."""

    async def passages(self, chunks: Sequence[Chunk]) -> list[PassageVectors]: ...


class RulesScorer:
    """Numbers, dates, negation and the like. They find what is wrong; of the rest they know
    nothing, and give .5."""

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        return await asyncio.to_thread(lambda: [_by_rules(claim) for claim in claims])


class CombinedScorer:
    """Rules, word overlap and token vectors, weighed by a calibrated model.

    Vectors of another embedder than the model was fitted with give .5 and never pass. The last
    scores are kept: what is asked in two stages, or again after a repair, is read once. With
    `vectors` a passage of the evidence is not embedded again.
    """

    def __init__(
        self, embedder: Embedder, model: ClaimModel, vectors: KeptVectors | None = None
    ) -> None:
        self._embedder = embedder
        self._model = model
        self._vectors = vectors
        self._kept: dict[Key, ClaimScore] = {}

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        keys = [(claim.text, tuple(claim.parts)) for claim in claims]
        new = {k: c for k, c in zip(keys, claims, strict=True) if k not in self._kept}
        scores = await self._read(list(new.values())) if new else []
        known = self._kept | dict(zip(new, scores, strict=True))
        self._kept = dict(list(known.items())[-KEPT:])
        return [known[key] for key in keys]

    async def _read(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        found = await read_claims(claims, self._embedder, self._vectors)
        known = self._embedder.fingerprint == self._model.model
        return [
            _scored(self._model.probability(read.signs) if known else UNKNOWN, read.signs, span)
            for read, span in found
        ]


async def read_claims(
    claims: Sequence[Claim], embedder: Embedder, vectors: KeptVectors | None = None
) -> list[tuple[ClaimSigns, SourceSpan]]:
    """The signs of each claim, and the part of its source that speaks most of it. All claims are
    embedded in one call, with what no vectors are kept of."""
    cut = await asyncio.to_thread(
        lambda: [pieces(claim.parts, embedder.count_tokens) for claim in claims]
    )
    parts = dict.fromkeys(part for own in cut for part in own)
    chunks = {part: part.chunk for part in parts if part.chunk is not None and vectors is not None}
    texts = [*dict.fromkeys(p.text for p in parts if p not in chunks), *(c.text for c in claims)]
    made = dict(zip(texts, await embedder.encode(texts), strict=True))
    encoded = {part: made[part.text] for part in parts if part not in chunks}
    if vectors is not None and chunks:
        kept = await vectors.passages(list(chunks.values()))
        encoded |= {part: _own(one) for part, one in zip(chunks, kept, strict=True)}
    return await asyncio.to_thread(
        lambda: [
            _read(c, made[c.text], [(p, encoded[p]) for p in own])
            for c, own in zip(claims, cut, strict=True)
        ]
    )


def _own(kept: PassageVectors) -> Encoded:
    """Without the tokens of the passage's title and heading."""
    inside = kept.offsets[:, 0] >= 0
    tokens = kept.tokens[inside]
    mean = tokens.mean(axis=0) if len(tokens) else np.zeros(kept.codes.shape[1], np.float32)
    sentence = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return Encoded(sentence, tokens, kept.offsets[inside])


def _read(
    claim: Claim, asked: Encoded, parts: Sequence[tuple[Part, Encoded]]
) -> tuple[ClaimSigns, SourceSpan]:
    read = claim_signs(claim.text, asked, [Passage(part.text, one) for part, one in parts])
    return read, span_of([part for part, _ in parts], read.first, read.last)


def _by_rules(claim: Claim) -> ClaimScore:
    first, last = window_by_words(claim.text, [part.text for part in claim.parts])
    (n, start, _), (m, _, end) = first, last
    window = claim.parts[n].text[start : end if n == m else None]
    everything = " ".join(part.text for part in claim.parts)
    signs = rule_signs(read_text(claim.text), read_text(window), read_text(everything))
    said, _ = objection(signs)
    return _scored(0.0 if said else UNKNOWN, signs, span_of(claim.parts, first, last))


def _scored(probability: float, signs: Signs, span: SourceSpan) -> ClaimScore:
    said, against = objection(signs)
    return ClaimScore(probability, span, said, against)


def span_of(
    parts: Sequence[Part], first: tuple[int, int, int], last: tuple[int, int, int]
) -> SourceSpan:
    """From one sentence to another, each the number of its part and its place there; where they
    are of two documents, the first alone."""
    (n, start, end), (m, _, until) = first, last
    part, ending = parts[n], parts[m]
    stop = part.start + end
    if ending.document_id == part.document_id and ending.start + until > stop:
        stop = ending.start + until
    return SourceSpan(part.document_id, part.revision, part.start + start, stop)
