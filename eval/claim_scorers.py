"""How probable it is that a document supports a claim: by the service's check, or by a baseline."""

import asyncio
import sys
import time
from collections.abc import Sequence

import numpy as np

from eval.claim_rows import (
    BATCH,
    EVERY,
    KEPT,
    SIGNS_VERSION,
    Claim,
    Labels,
    Numbers,
    Signed,
    balanced_accuracy,
)
from eval.claim_rows import best_threshold as threshold_of
from eval.kept import Kept, key_of
from graph.adapters.claim_model import load_claim_model
from graph.compose import Service
from ingest.documents import quote_sha256
from ingest.errors import ConfigurationError, ServiceError
from nodes.findings import Citation, Sentence
from nodes.ports import Sources
from nodes.prompts import PROMPT_VERSION

REVISION = "1"
ASKED = 4
"""Claims that a chat model judges at once."""
BASELINE = (
    "cosine", "cosine_sentence", "late", "late_weakest", "coverage", "coverage_window",
    "numbers_missing", "names_missing", "ratio",
)  # fmt: skip
"""MiniLM and word overlap: cosine with the best passage and sentence, late interaction (mean and
minimum), the claim's words in the document and in its nearest sentences, its numbers and names,
and the ratio of lengths."""


async def checked(service: Service, claims: Sequence[Claim]) -> list[float | None]:
    """The service's own check, in [0, 1]: each claim as the sentence of an answer; None where the
    check gave no verdict, which a later run asks again.

    It cites its own words where the document has them, else the whole document. What was checked
    before with the same settings, models and calibration is taken from the data folder. Raises the
    last error where there is no verdict at all.
    """
    kept: Kept[dict[str, float]] = Kept(service.corpus.folder.path / KEPT)
    made_by = _made_by(service)
    keys = [key_of("service", *made_by, claim.doc, claim.claim) for claim in claims]
    missing = {k: c for k, c in zip(keys, claims, strict=True) if kept.get(k) is None}
    todo = list(missing.items())
    size = BATCH if service.settings.chat.model is None else ASKED
    failed: ServiceError | None = None
    for start in range(0, len(todo), size):
        batch = todo[start : start + size]
        found = await asyncio.gather(*(_verdict(service, claim) for _, claim in batch))
        told = {k: one for (k, _), one in zip(batch, found, strict=True)}
        kept.put({k: {"probability": p} for k, p in told.items() if isinstance(p, float)})
        failed = next((one for one in found if isinstance(one, ServiceError)), failed)
        if (start // size) % EVERY == 0:
            print(f"{start + len(batch)} of {len(todo)} claims", file=sys.stderr, flush=True)
    given = [(kept.get(key) or {}).get("probability") for key in keys]
    if failed is not None and all(one is None for one in given):
        raise failed
    return given


def _made_by(service: Service) -> list[str]:
    """All that a verdict depends on, but the claim."""
    chat = service.settings.chat
    return [
        service.settings.grounding.model_dump_json(),
        load_claim_model(embedder=service.corpus.embedder.fingerprint).version,
        SIGNS_VERSION,
        service.corpus.embedder.fingerprint,
        chat.model_dump_json(include={"model", "lite_model", "base_url", "verdicts"}),
        PROMPT_VERSION,
    ]


async def _verdict(service: Service, claim: Claim) -> float | ServiceError:
    """Each claim alone: among several, one without a verdict would count as not supported."""
    sources = Sources({("0", REVISION): claim.doc})
    try:
        (support,) = await service.services.checker.check("", [_sentence(claim, "0")], sources)
    except ConfigurationError:
        raise
    except ServiceError as error:
        return error
    return float(support.probability)


async def times(service: Service, claims: Sequence[Claim]) -> list[float]:
    """Milliseconds of each check on its own, as an answer of one sentence is checked."""
    found = []
    for claim in claims:
        sources = Sources({("0", REVISION): claim.doc})
        clock = time.perf_counter()
        await service.services.checker.check("", [_sentence(claim, "0")], sources)
        found.append(1000 * (time.perf_counter() - clock))
    return found


def baseline(tune: Sequence[Signed], labels: Labels, report: Sequence[Signed]) -> Labels:
    """What a logistic regression over BASELINE calls supported: weights and threshold of the set's
    own tuning half."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(_matrix(tune), labels, logisticregression__sample_weight=_balanced(labels))
    threshold = threshold_of(model.predict_proba(_matrix(tune))[:, 1], labels)
    return np.asarray(model.predict_proba(_matrix(report))[:, 1] >= threshold)


def cross_validated(signs: Sequence[Signed], labels: Labels, documents: Sequence[str]) -> float:
    """The balanced accuracy of the baseline on a tuning half, no document on both sides."""
    names, of_row = np.unique(np.asarray(documents), return_inverse=True)
    fold = np.random.default_rng(0).permutation(len(names))[of_row] % 5
    told = np.zeros(len(labels), dtype=bool)
    for n in range(5):
        seen = [one for one, f in zip(signs, fold, strict=True) if f != n]
        unseen = [one for one, f in zip(signs, fold, strict=True) if f == n]
        told[fold == n] = baseline(seen, labels[fold != n], unseen)
    return balanced_accuracy(told, labels)


def _balanced(labels: Labels) -> Numbers:
    weights = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    return np.asarray(weights, dtype=float)


def _matrix(signs: Sequence[Signed]) -> Numbers:
    return np.array([[one.values[name] for name in BASELINE] for one in signs], dtype=float)


def _sentence(claim: Claim, document: str) -> Sentence:
    at = claim.doc.find(claim.claim)
    start, end = (at, at + len(claim.claim)) if at >= 0 else (0, len(claim.doc))
    quote = claim.doc[start:end]
    cited = Citation(
        n=1, kind="document", chunk_id=document, document_id=document, revision=REVISION,
        title="", page=None, heading="", start=start, end=end, quote=quote,
        quote_sha256=quote_sha256(quote),
    )  # fmt: skip
    return Sentence(claim.claim, [cited])
