"""Labelled claims and near-miss pairs, and their signs, which are kept in a data folder."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from eval.datasets import Side, on_side
from eval.kept import Kept, key_of
from eval.labelled_rows import read_rows
from graph.adapters.claim_scorer import Claim as Asserted
from graph.adapters.claim_scorer import read_claims
from graph.adapters.claim_source import Part
from ingest.compose import Corpus
from ingest.errors import ConfigurationError

KEPT = "claim-signs.jsonl"
SIGNS_VERSION = "2"
"""Grows when the signs are computed otherwise, so that kept ones are computed anew."""
BATCH = 64
"""Claims that are encoded in one call, and lost where a run is cut short."""
EVERY = 5
"""Batches between two lines of progress."""

NEAR_MISSES = "near_misses"

Numbers = NDArray[np.float64]
Labels = NDArray[np.bool_]


class Claim(BaseModel):
    """`label` is 1 where the document supports the claim, else 0."""

    dataset: str
    id: str
    doc: str = Field(min_length=1)
    claim: str = Field(min_length=1)
    label: Literal[0, 1]


class NearMiss(BaseModel):
    """`supported` follows from the passage, `near_miss` says nearly the same and does not."""

    id: str
    language: str
    kind: str
    passage: str = Field(min_length=1)
    supported: str = Field(min_length=1)
    near_miss: str = Field(min_length=1)

    @property
    def claims(self) -> list[Claim]:
        given = {"dataset": NEAR_MISSES, "doc": self.passage}
        return [
            Claim(id=f"{self.id}:supported", claim=self.supported, label=1, **given),
            Claim(id=f"{self.id}:near_miss", claim=self.near_miss, label=0, **given),
        ]


@dataclass(frozen=True)
class Signed:
    """The signs of one claim; `ms` is its share of the time that its batch took."""

    values: dict[str, float]
    ms: float


def claims_of(file: Path, side: Side) -> list[Claim]:
    """Those whose document lies on a side. Raises ConfigurationError, also where a label lacks."""
    rows = [row for row in read_rows(file, Claim) if on_side(row.doc, side)]
    if {row.label for row in rows} != {0, 1}:
        raise ConfigurationError(f"{file}: the {side} side needs supported and other claims")
    return rows


def near_misses(file: Path, half: Literal["open", "frozen"]) -> list[NearMiss]:
    """Raises ConfigurationError for a file without a pair of that half."""
    side: Side = "tune" if half == "open" else "report"
    pairs = [pair for pair in read_rows(file, NearMiss) if on_side(pair.id, side)]
    if not pairs:
        raise ConfigurationError(f"{file} has no pair of the {half} half")
    return pairs


async def signs_of(corpus: Corpus, claims: Sequence[Claim]) -> list[Signed]:
    """Of claims that cite their whole document; kept ones are not computed again."""
    kept: Kept[dict[str, float]] = Kept(corpus.folder.path / KEPT)
    fingerprint = corpus.embedder.fingerprint
    keys = [key_of(fingerprint, SIGNS_VERSION, claim.doc, claim.claim) for claim in claims]
    missing = {k: c for k, c in zip(keys, claims, strict=True) if kept.get(k) is None}
    todo = list(missing.items())
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        clock = time.perf_counter()
        signs = await read_claims([asserted(c) for _, c in batch], corpus.embedder)
        ms = 1000 * (time.perf_counter() - clock) / len(batch)
        kept.put({k: s.signs | {"ms": ms} for (k, _), (s, _) in zip(batch, signs, strict=True)})
        if (start // BATCH) % EVERY == 0:
            print(f"{start + len(batch)} of {len(todo)} claims", file=sys.stderr, flush=True)
    values = [kept.get(key) or {} for key in keys]
    return [Signed({n: v for n, v in own.items() if n != "ms"}, own["ms"]) for own in values]


def asserted(claim: Claim) -> Asserted:
    return Asserted(claim.claim, [Part(claim.dataset, "1", 0, claim.doc)])


def best_threshold(probabilities: Numbers, labels: Labels) -> float:
    """From where calling a claim supported gives the best balanced accuracy; in (0, 1]."""
    tried = np.unique(np.round(probabilities[probabilities > 0], 4)).tolist() or [1.0]
    scores = [balanced_accuracy(probabilities >= threshold, labels) for threshold in tried]
    return float(tried[int(np.argmax(scores))])


def balanced_accuracy(supported: Labels, labels: Labels) -> float:
    """The mean of the shares of supported and of other claims that were told as such; NaN where
    one kind is missing."""
    if labels.all() or not labels.any():
        return float("nan")
    return float((supported[labels].mean() + (~supported[~labels]).mean()) / 2)
