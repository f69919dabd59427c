"""Fits the check of claims: from labelled rows to graph/calibrations/claims-*.json.

python -m eval.claim_fit --claims FILE [--claims FILE …] --near-misses FILE --out FILE

Claims of the even half by their document, near misses of the open half by their id: nothing else
is read. Probabilities in `measured` are cross-validated over documents.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.claim_rows import Claim, claims_of, near_misses, signs_of
from eval.claim_rows import balanced_accuracy as bacc
from graph.adapters.claim_model import ClaimModel, Node
from graph.adapters.claim_signs import FITTED, direction
from graph.compose import open_graph
from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from ingest.settings import own_folder, read

Numbers = NDArray[np.float64]

FOLDS = 5
LEAVES, ROUNDS, FEWEST, RATE, RIDGE = 8, 120, 20, 0.06, 1.0
"""Chosen by cross-validation among 4, 8 and 16 leaves and 120 to 250 rounds."""
SHARES: dict[str, float] = {"near_misses": 0.3}
"""Weight of a dataset beside the others' 1: near misses are made so that words and vectors are
blind to them."""
SUPPORTED, UNSUPPORTED = 0.9, 0.03
"""Precision of what is called supported, and share of supported claims lost below `lower`: where
a chat model judges the middle, asking costs less than losing."""


@dataclass(frozen=True)
class Rows:
    """Signs, labels, dataset and document of each claim."""

    signs: Numbers
    labels: NDArray[np.bool_]
    datasets: NDArray[np.str_]
    documents: list[str]

    def part(self, chosen: NDArray[np.bool_]) -> "Rows":
        kept = [d for d, keep in zip(self.documents, chosen, strict=True) if keep]
        return Rows(self.signs[chosen], self.labels[chosen], self.datasets[chosen], kept)


def fit(rows: Rows, *, model: str) -> ClaimModel:
    """Raises ConfigurationError where a dataset lacks a label."""
    for name in np.unique(rows.datasets):
        if len(set(rows.labels[rows.datasets == name])) < 2:
            raise ConfigurationError(f"{name}: needs supported and other claims")
    held = held_out(rows)
    weights = _weights(rows)
    lower, upper = _bands(held, rows.labels, weights)
    bias, trees = _trees(_boosted(rows), rows)
    names, counts = np.unique(rows.datasets, return_counts=True)
    return ClaimModel(
        model=model,
        signs=list(FITTED),
        bias=bias,
        trees=trees,
        upper=upper,
        lower=lower,
        fitted_on={"claims": dict(zip(names.tolist(), counts.tolist(), strict=True)),
                   "half": "even sha256 of the document; near misses: of the id",
                   "shares": SHARES, "leaves": LEAVES, "rounds": ROUNDS, "rate": RATE},
        measured={"folds": FOLDS, "by_dataset": measured(rows, held),
                  "clear": _clear(held, rows, lower, upper)},
    )  # fmt: skip


def held_out(rows: Rows) -> Numbers:
    """Of each claim, by a model that saw no claim of its document."""
    names, of_row = np.unique(np.asarray(rows.documents), return_inverse=True)
    fold = np.random.default_rng(0).permutation(len(names))[of_row] % FOLDS
    found = np.zeros(len(rows.labels))
    for n in range(FOLDS):
        fitted = _boosted(rows.part(fold != n))
        found[fold == n] = fitted.predict_proba(rows.signs[fold == n])[:, 1]
    return found


def measured(rows: Rows, probabilities: Numbers) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    found = {}
    for name in np.unique(rows.datasets).tolist():
        own = rows.datasets == name
        p, labels = probabilities[own], rows.labels[own]
        found[name] = {
            "balanced_accuracy_at_half": round(bacc(p >= 0.5, labels), 4),
            "auroc": round(float(roc_auc_score(labels, p)), 4),
        }
    return found


def _boosted(rows: Rows) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        learning_rate=RATE,
        max_iter=ROUNDS,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=FEWEST,
        l2_regularization=RIDGE,
        monotonic_cst=[direction(name) for name in FITTED],
        early_stopping=False,
        random_state=0,
    )
    return model.fit(rows.signs, rows.labels, sample_weight=_weights(rows))


def _weights(rows: Rows) -> Numbers:
    """Every dataset weighs the same but for SHARES, and in it both labels."""
    weights = np.zeros(len(rows.labels))
    for name in np.unique(rows.datasets):
        for label in (True, False):
            own = (rows.datasets == name) & (rows.labels == label)
            weights[own] = SHARES.get(str(name), 1.0) / max(1, own.sum())
    return np.asarray(weights * len(weights) / weights.sum())


def _trees(model: Any, rows: Rows) -> tuple[float, list[list[Node]]]:
    """As plain nodes. Raises ValueError where they do not say what the library's own do."""
    trees = [
        [
            Node(value=float(n["value"]))
            if n["is_leaf"]
            else Node(
                sign=int(n["feature_idx"]),
                threshold=float(n["num_threshold"]),
                left=int(n["left"]),
                right=int(n["right"]),
            )
            for n in predictors[0].nodes
        ]
        for predictors in model._predictors
    ]
    bias = float(np.ravel(model._baseline_prediction)[0])
    plain = ClaimModel(model="", signs=list(FITTED), bias=bias, trees=trees, upper=1, lower=0,
                       fitted_on={}, measured={})  # fmt: skip
    some = rows.signs[:50]
    mine = [plain.probability(dict(zip(FITTED, row, strict=True))) for row in some]
    if not np.allclose(mine, model.predict_proba(some)[:, 1], atol=1e-9):
        raise ValueError("the trees as written differ from the library's")
    return bias, trees


def _bands(held: Numbers, labels: NDArray[np.bool_], weights: Numbers) -> tuple[float, float]:
    """Weighted as the fit: half of all are supported. The lowest `upper` from which SUPPORTED of
    the claims above hold; the highest `lower` below which UNSUPPORTED of what holds is lost."""
    tried = np.round(np.arange(0.02, 0.99, 0.01), 2)
    precise = [
        float(t) for t in tried
        if (above := held >= t).any()
        and weights[above & labels].sum() >= SUPPORTED * weights[above].sum()
    ]  # fmt: skip
    upper = precise[0] if precise else 1.0
    supported = weights[labels].sum()
    lost = [
        float(t) for t in tried
        if t <= upper and weights[(held < t) & labels].sum() <= UNSUPPORTED * supported
    ]  # fmt: skip
    return (lost[-1] if lost else 0.0), upper


def _clear(held: Numbers, rows: Rows, lower: float, upper: float) -> dict[str, Any]:
    """Of each dataset the shares above and below the band, and how much of them is right."""
    found = {}
    for name in np.unique(rows.datasets).tolist():
        own = rows.datasets == name
        p, labels = held[own], rows.labels[own]
        above, below = p >= upper, p < lower
        found[name] = {
            "supported": round(float(above.mean()), 3),
            "of_them_right": round(float(labels[above].mean()), 3) if above.any() else None,
            "unsupported": round(float(below.mean()), 3),
            "of_those_right": round(float((~labels[below]).mean()), 3) if below.any() else None,
        }
    return found


async def gathered(
    settings: GraphSettings, files: Sequence[Path], misses: Path | None
) -> tuple[Rows, str]:
    """The signs of all that may be tuned on, and the embedder that made them."""
    claims: list[Claim] = [c for file in files for c in claims_of(file, "tune")]
    groups = [c.doc for c in claims]
    if misses is not None:
        own = near_misses(misses, "open")
        claims += [c for pair in own for c in pair.claims]
        groups += [pair.id for pair in own for _ in range(2)]
    async with open_graph(settings) as service:
        signs = await signs_of(service.corpus, claims)
        model = service.corpus.embedder.fingerprint
    matrix = np.array([[one.values[name] for name in FITTED] for one in signs], dtype=float)
    labels = np.array([c.label == 1 for c in claims])
    return Rows(matrix, labels, np.array([c.dataset for c in claims]), groups), model


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--claims", type=Path, action="append", required=True)
    options.add_argument("--near-misses", type=Path)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--data-dir", type=Path, default=Path(".crag-eval"))
    given = options.parse_args()
    settings = read(GraphSettings, **own_folder(given.data_dir))
    rows, model = asyncio.run(gathered(settings, given.claims, given.near_misses))
    fitted = fit(rows, model=model)
    given.out.write_text(fitted.model_dump_json(exclude_defaults=True) + "\n", encoding="utf-8")
    print(json.dumps(fitted.measured, indent=2), file=sys.stdout)


if __name__ == "__main__":
    main()
