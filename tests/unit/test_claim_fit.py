"""A fit tells what its signs tell, on documents that it has not seen; the baseline as well."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from eval.claim_fit import Rows, fit
from eval.claim_rows import Signed, claims_of, near_misses
from eval.claim_scorers import BASELINE, baseline
from eval.datasets import on_side
from graph.adapters.claim_signs import FITTED, direction
from ingest.errors import ConfigurationError

RANDOM = np.random.default_rng(1)
LABELS = np.arange(240) % 2 == 0


def rows(labels: np.ndarray = LABELS) -> Rows:
    """Coverage tells the label, nothing else does; two claims on each document."""
    signs = RANDOM.normal(size=(len(labels), len(FITTED)))
    signs[:, FITTED.index("coverage")] = labels + RANDOM.normal(scale=0.2, size=len(labels))
    documents = [str(n // 2) for n in range(len(labels))]
    return Rows(signs, labels, np.array(["some"] * len(labels)), documents)


def test_a_fit_finds_the_sign_that_tells_and_never_turns_one_round() -> None:
    model = fit(rows(), model="embedder")
    measured = model.measured["by_dataset"]
    assert measured["some"]["balanced_accuracy_at_half"] > 0.9  # type: ignore[index]
    assert model.fitted_on["claims"] == {"some": 240} and model.lower <= model.upper
    flat = dict.fromkeys(FITTED, 0.0)
    for sign in FITTED:
        low, high = (model.probability(flat | {sign: value}) for value in (-2.0, 2.0))
        assert (high - low) * direction(sign) >= 0
    assert model.probability(flat | {"coverage": 1.0}) > 0.8


def test_without_both_labels_nothing_is_fitted() -> None:
    with pytest.raises(ConfigurationError, match="supported and other"):
        fit(dataclasses.replace(rows(), labels=np.ones(240, dtype=bool)), model="embedder")


def test_the_baseline_learns_from_the_tuning_half_alone() -> None:
    signs = [Signed({name: float(label) for name in BASELINE}, 0.0) for label in LABELS]
    assert (baseline(signs, LABELS, signs) == LABELS).all()
    assert (baseline(signs, ~LABELS, signs) == ~LABELS).all()


def test_claims_lie_on_the_side_of_their_document_and_pairs_on_that_of_their_id(
    tmp_path: Path,
) -> None:
    claims = [{"dataset": "d", "id": f"{n}", "doc": f"doc {n // 2}", "claim": "c", "label": n % 2}
              for n in range(40)]  # fmt: skip
    file = tmp_path / "claims.jsonl"
    file.write_text("\n".join(json.dumps(claim) for claim in claims))
    sides = [claims_of(file, "tune"), claims_of(file, "report")]
    assert sum(map(len, sides)) == 40
    assert not {c.doc for c in sides[0]} & {c.doc for c in sides[1]}
    pairs = [{"id": f"p{n}", "language": "en", "kind": "role", "passage": "p", "supported": "s",
              "near_miss": "n"} for n in range(20)]  # fmt: skip
    file.write_text("\n".join(json.dumps(pair) for pair in pairs))
    assert all(on_side(pair.id, "report") for pair in near_misses(file, "frozen"))
    assert [c.label for c in near_misses(file, "open")[0].claims] == [1, 0]
