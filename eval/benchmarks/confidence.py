"""Fits the probability that an answer is right to runs of golden questions.

python -m eval.benchmarks.confidence --run DIR [--run DIR] --out FILE

DIR is a folder of `crag eval run`, made with CRAG_ANSWER__CONFIDENCE=0 and, so that there are weak
answers to learn from, a low CRAG_GRADE__UPPER. Rows of split test, and the reporting half of rows
without a split, are left out.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.datasets import on_side
from eval.fates import fate
from eval.records import Record
from eval.results import read_results
from eval.selective import RISK, area, coverage_at, risk_coverage, threshold_at
from eval.statistics import expected_calibration_error
from graph.adapters.calibration import load_calibration
from graph.adapters.fitted_confidence import ConfidenceFile
from ingest.errors import ConfigurationError
from nodes.confidence import NAMES

FOLDS = 10
STRENGTH = 0.1
"""Inverse of the L2 penalty: there are few answers."""
FEWEST = 30
"""Answers of a kind, right and wrong, below which nothing is fitted."""


@dataclass(frozen=True)
class Row:
    """One draft: its signs, and whether it was right."""

    id: str
    signs: dict[str, float]
    right: bool


def rows_of(records: Sequence[Record]) -> list[Row]:
    """Of the corrective runs that may be tuned on."""
    rows = []
    for record in records:
        signs = _signs(record)
        split = record.golden.split
        tuned = split == "dev" or (split is None and on_side(record.golden.id, "tune"))
        if record.pipeline == "corrective" and tuned and signs is not None:
            rows.append(Row(record.golden.id, signs, fate(record) == "right"))
    return rows


def fit(rows: Sequence[Row], *, names: Sequence[str] = NAMES) -> tuple[dict[str, Any], list[float]]:
    """The parameters of the file, and the probability of each row by a model that has not seen its
    question. Raises ConfigurationError for fewer than FEWEST rows of a kind."""
    right = np.array([row.right for row in rows])
    if min(right.sum(), (~right).sum()) < FEWEST:
        raise ConfigurationError(
            f"{right.sum()} right and {(~right).sum()} wrong answers; {FEWEST} of each are needed"
        )
    signs = np.array([[row.signs[name] for name in names] for row in rows])
    folds = np.array([_fold(row.id) for row in rows])
    held_out = np.zeros(len(rows))
    for fold in range(FOLDS):
        test = folds == fold
        if test.any():
            held_out[test] = _probabilities(_fitted(signs[~test], right[~test]), signs[test])
    mean, scale, weights, bias = _fitted(signs, right)
    parameters = {
        "signs": list(names),
        "mean": _rounded(mean),
        "scale": _rounded(scale),
        "weights": _rounded(weights),
        "bias": round(bias, 5),
    }
    return parameters, held_out.tolist()


def measured(rows: Sequence[Row], held_out: Sequence[float], *, embedder: str) -> dict[str, Any]:
    """Cross-validated, of all drafts and of those that the grader lets through that was shipped
    for the `embedder` of the runs, a fingerprint."""
    upper = load_calibration(embedder=embedder).answers["full"].upper
    bar = float(np.log(upper / (1 - upper)))
    told = [i for i, row in enumerate(rows) if row.signs["best"] >= bar]
    return {
        "all_drafts": _measured([(held_out[i], not rows[i].right) for i in range(len(rows))]),
        "answered": _measured([(held_out[i], not rows[i].right) for i in told]),
        "answered_by_best_grade": _measured(
            [(rows[i].signs["best"], not rows[i].right) for i in told]
        ),
    }


def _measured(answers: list[tuple[float, bool]]) -> dict[str, Any]:
    if not answers:
        return {"n": 0}
    points = risk_coverage(answers, len(answers))
    confident = np.array([confidence for confidence, _ in answers])
    right = np.array([not wrong for _, wrong in answers])
    found: dict[str, Any] = {
        "n": len(answers),
        "right": round(float(right.mean()), 4),
        "aurc": round(area(answers), 4),
        "coverage_at_5_percent_risk": round(coverage_at(RISK, points), 4),
    }
    if confident.min() >= 0 and confident.max() <= 1:
        found["ece"] = round(expected_calibration_error(confident, right), 4)
        found["threshold_at_risk"] = {
            f"{risk:.2f}": round(threshold_at(risk, answers), 4) for risk in (0.05, 0.1, 0.2, 0.3)
        }
    return found


def _fitted(
    signs: NDArray[np.float64], right: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    from sklearn.linear_model import LogisticRegression

    mean, scale = signs.mean(axis=0), signs.std(axis=0)
    scale[scale < 1e-9] = 1.0
    model = LogisticRegression(C=STRENGTH, max_iter=3000).fit((signs - mean) / scale, right)
    return mean, scale, model.coef_[0], float(model.intercept_[0])


def _probabilities(
    fitted: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float],
    signs: NDArray[np.float64],
) -> NDArray[np.float64]:
    mean, scale, weights, bias = fitted
    return np.asarray(1 / (1 + np.exp(-((signs - mean) / scale @ weights + bias))))


def _signs(record: Record) -> dict[str, float] | None:
    entries = record.ran.trace if record.ran is not None else []
    found = [e["summary"].get("signs") for e in entries if e["node"] == "estimate_confidence"]
    return found[-1] if found else None


def _fold(identity: str) -> int:
    return int(hashlib.sha256(f"fold {identity}".encode()).hexdigest(), 16) % FOLDS


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 5) for value in values]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--run", type=Path, action="append", required=True)
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    results = [read_results(folder) for folder in given.run]
    rows = [row for result in results for row in rows_of(result.records)]
    parameters, held_out = fit(rows)
    file = ConfidenceFile(
        **parameters,
        fitted_on={
            "runs": [r.origin.golden.file for r in results],
            "drafts": len(rows),
            "right": sum(row.right for row in rows),
        },
        measured=measured(rows, held_out, embedder=results[0].origin.versions["embedder"]),
    )
    given.out.write_text(file.model_dump_json(indent=2) + "\n", encoding="utf-8")
    print(json.dumps(file.measured, indent=2))


if __name__ == "__main__":
    main()
