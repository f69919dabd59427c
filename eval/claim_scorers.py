"""How probable it is that a document supports a claim, by the service's check or by a baseline."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.corpora import as_document
from eval.kept import Kept, key_of
from graph.adapters.token_vectors import max_sim
from ingest.documents import quote_sha256
from ingest.ports import Embedder, Encoded
from ingest.splitter import split
from nodes.ports import GroundingChecker, Sources
from nodes.state import Citation, Sentence
from nodes.words import literals, stems, words

DOCUMENT, REVISION = "document", "1"
SIGNS = ("late", "late_weakest", "cosine", "coverage", "passage_coverage", "numbers", "names")
TOKENS = 210
"""Model tokens of a passage, as the service splits."""
SIGNS_VERSION = "1"
"""Grows when the signs are computed otherwise, so that kept ones are computed anew."""


Pair = tuple[str, str]
"""A document and a claim on it."""


@dataclass(frozen=True)
class Timed:
    """The values of one claim; `ms` is its share of the time that its batch took."""

    values: dict[str, float]
    ms: float


async def checked(checker: GroundingChecker, pairs: Sequence[Pair]) -> list[Timed]:
    """The service's own check, `probability` in [0, 1]: each claim as the sentence of an answer.

    It cites its own words where the document has them, else the whole document.
    """
    found = []
    for document, claim in pairs:
        sources = Sources({(DOCUMENT, REVISION): document})
        clock = time.perf_counter()
        (support,) = await checker.check("", [Sentence(claim, [_cited(document, claim)])], sources)
        ms = 1000 * (time.perf_counter() - clock)
        found.append(Timed({"probability": support.probability}, ms))
    return found


async def overlapping(embedder: Embedder, kept: Kept, pairs: Sequence[Pair]) -> list[Timed]:
    """The SIGNS of each claim. A baseline that only measuring knows: no part of the service.

    The embedder's late interaction and cosine with the document's passages, and the share of the
    claim's stems, numbers and names that stand in it; those are 1 where the claim has none.
    """
    keys = [key_of(embedder.fingerprint, SIGNS_VERSION, *pair) for pair in pairs]
    missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if kept.get(key) is None}
    if missing:
        clock = time.perf_counter()
        signs = await _signs(embedder, list(missing.values()))
        ms = 1000 * (time.perf_counter() - clock) / len(missing)
        kept.put({key: own | {"ms": ms} for key, own in zip(missing, signs, strict=True)})
    values = [kept.get(key) or {} for key in keys]
    return [Timed({name: own[name] for name in SIGNS}, own["ms"]) for own in values]


def _cited(document: str, claim: str) -> Citation:
    at = document.find(claim)
    start, end = (at, at + len(claim)) if at >= 0 else (0, len(document))
    quote = document[start:end]
    return Citation(
        n=1, kind="document", chunk_id=DOCUMENT, document_id=DOCUMENT, revision=REVISION,
        title="", page=None, heading="", start=start, end=end, quote=quote,
        quote_sha256=quote_sha256(quote),
    )  # fmt: skip


async def _signs(embedder: Embedder, pairs: Sequence[Pair]) -> list[dict[str, float]]:
    """In one batch: many short texts, encoded one by one, would take several times as long."""
    passages = {
        document: [
            document[span.start : span.end]
            for span in split(as_document("", document), embedder.count_tokens, max_tokens=TOKENS)
        ]
        or [document]
        for document in {document for document, _ in pairs}
    }
    texts = list(
        dict.fromkeys([p for own in passages.values() for p in own] + [c for _, c in pairs])
    )
    encoded = dict(zip(texts, await embedder.encode(texts), strict=True))
    return [
        _of_claim(
            claim, encoded[claim], passages[document], [encoded[p] for p in passages[document]]
        )
        for document, claim in pairs
    ]


def _of_claim(
    claim: str, asked: Encoded, passages: Sequence[str], read: Sequence[Encoded]
) -> dict[str, float]:
    nearest = np.max([max_sim(asked.tokens, passage.tokens) for passage in read], axis=0)
    wanted = set(stems(claim))
    by_passage = [_share(wanted, set(stems(passage))) for passage in passages]
    everything = " ".join(passages)
    return {
        "late": float(nearest.mean()) if len(nearest) else 0.0,
        "late_weakest": float(nearest.min()) if len(nearest) else 0.0,
        "cosine": float(max(passage.sentence @ asked.sentence for passage in read)),
        "coverage": _share(wanted, set(stems(everything))),
        "passage_coverage": max(by_passage),
        "numbers": _share(_numbers(claim), _numbers(everything)),
        "names": _share(_names(claim), set(words(everything))),
    }


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 1.0


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if any(c.isdigit() for c in word)}


def _names(claim: str) -> set[str]:
    """Words that begin with a capital, but for the first, and codes."""
    _, _, rest = claim.partition(" ")
    capital = {word for part in rest.split() if part[:1].isupper() for word in words(part)}
    return capital | {word for literal in literals(claim) for word in words(literal)}
