"""Scores claims against their sources: by rules alone, or by rules and the embedder, calibrated."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.adapters.claim_model import ClaimModel
from graph.adapters.claim_reading import read_text
from graph.adapters.claim_rules import Signs, objection, rule_signs
from graph.adapters.claim_signs import ClaimSigns, Passage, claim_signs, window_by_words
from graph.adapters.claim_source import Part, pieces
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


class RulesScorer:
    """Numbers, dates, negation and the like. They find what is wrong; of the rest they know
    nothing, and give .5."""

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        return await asyncio.to_thread(lambda: [_by_rules(claim) for claim in claims])


class CombinedScorer:
    """Rules, word overlap and token vectors, weighed by a calibrated model.

    Vectors of another embedder than the model was fitted with give .5 and never pass. The last
    scores are kept: what is asked in two stages, or again after a repair, is read once.
    """

    def __init__(self, embedder: Embedder, model: ClaimModel) -> None:
        self._embedder = embedder
        self._model = model
        self._kept: dict[Key, ClaimScore] = {}

    async def score(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        keys = [(claim.text, tuple(claim.parts)) for claim in claims]
        new = {k: c for k, c in zip(keys, claims, strict=True) if k not in self._kept}
        scores = await self._read(list(new.values())) if new else []
        known = self._kept | dict(zip(new, scores, strict=True))
        self._kept = dict(list(known.items())[-KEPT:])
        return [known[key] for key in keys]

    async def _read(self, claims: Sequence[Claim]) -> list[ClaimScore]:
        found = await read_claims(claims, self._embedder)
        known = self._embedder.fingerprint == self._model.model
        return [
            _scored(self._model.probability(read.signs) if known else UNKNOWN, read.signs, span)
            for read, span in found
        ]


async def read_claims(
    claims: Sequence[Claim], embedder: Embedder
) -> list[tuple[ClaimSigns, SourceSpan]]:
    """The signs of each claim, and the part of its source that speaks most of it."""
    cut = await asyncio.to_thread(
        lambda: [pieces(claim.parts, embedder.count_tokens) for claim in claims]
    )
    texts = list(dict.fromkeys([p.text for own in cut for p in own] + [c.text for c in claims]))
    encoded = dict(zip(texts, await embedder.encode(texts), strict=True))
    return await asyncio.to_thread(
        lambda: [_read(c, p, encoded) for c, p in zip(claims, cut, strict=True)]
    )


def _read(
    claim: Claim, parts: Sequence[Part], encoded: dict[str, Encoded]
) -> tuple[ClaimSigns, SourceSpan]:
    passages = [Passage(part.text, encoded[part.text]) for part in parts]
    read = claim_signs(claim.text, encoded[claim.text], passages)
    return read, span_of(parts, read.first, read.last)


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
