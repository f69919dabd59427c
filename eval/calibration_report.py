"""The report of a calibration: a page with a plot, of figures on questions it had not seen."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.calibrate import FIT_ONLY, FOLDS, Fitted
from eval.calibration_plot import plot
from eval.held_out import HeldOut, Told
from eval.statistics import BINS, expected_calibration_error
from eval.thresholds import KEEP


def write_report(fitted: Fitted, folder: Path, name: str) -> list[Path]:
    """Writes NAME.md and NAME.svg; the folder is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    page, picture = folder / f"{name}.md", folder / f"{name}.svg"
    full = fitted.file.answers["full"]
    plot(fitted.held_out, upper=full.upper, lower=full.lower, file=picture)
    page.write_text("\n".join(_lines(fitted, name, picture.name)) + "\n", encoding="utf-8")
    return [page, picture]


def _lines(fitted: Fitted, name: str, picture: str) -> list[str]:
    file, held_out = fitted.file, fitted.held_out
    full, uppers = file.answers["full"], held_out.uppers
    return [
        f"# Calibration {name}",
        "",
        f"For {file.model}. Every figure is cross-validated in {FOLDS} folds: no question was",
        "judged by a model that had seen it. Targets: precision "
        f"{file.fitted_on['precision']} above `upper`, recall {file.fitted_on['recall']} above "
        "`lower`.",
        "",
        f"![Distributions, reliability, outcomes]({picture})",
        "",
        "## Fitted on",
        "",
        *_fitted_on(held_out),
        "",
        "## Models",
        "",
        *_models(fitted),
        "",
        "## What the thresholds would have done",
        "",
        f"Over the first {KEEP} passages of each question, with the `upper` that the other folds",
        f"choose ({min(uppers):g} to {max(uppers):g}; in the file: {full.upper:g}). *Held* is a",
        "question with a passage that answers among them; the others are unanswerable, were made",
        "so by leaving out what answers, or were not found, and any answer to them is wrong.",
        *([f"Not counted, since only fitted on: {', '.join(FIT_ONLY)}."] if _fit_only(held_out)
          else []),
        "",
        *_outcomes(held_out.questions),
        "",
        *_lower(held_out, full.lower),
        "",
        "## Reliability of the `full` model",
        "",
        *_errors(held_out),
        "",
        *_reliability(held_out.sentences, held_out.states),
    ]  # fmt: skip


def _fitted_on(held_out: HeldOut) -> list[str]:
    names = sorted(set(held_out.datasets.tolist()))
    counted = [
        (name, (held_out.datasets == name).sum(), held_out.labels[held_out.datasets == name].sum())
        for name in names
    ]
    return _table(["dataset", "passages", "that answer"], counted)


def _models(fitted: Fitted) -> list[str]:
    rows = []
    for name, model in fitted.file.answers.items():
        measured: Any = fitted.file.measured[name]
        rows.append((name, len(model.signs), f"{model.upper:g}", f"{model.lower:g}",
                     measured["brier"], measured["ece"]))  # fmt: skip
    return _table(["set", "signs", "upper", "lower", "Brier", "ECE"], rows)


def _outcomes(questions: Sequence[Told]) -> list[str]:
    rows = []
    for name in [*sorted({one.dataset for one in questions}), "all"]:
        own = [one for one in questions if name in (one.dataset, "all")]
        for found in (True, False):
            kind = [one for one in own if one.found == found]
            right = sum(one.right for one in kind)
            answered = sum(one.answered for one in kind)
            counts = (answered, right, answered - right, len(kind) - answered)
            shares = [f"{n} ({n / len(kind):.0%})" if kind else "0" for n in counts]
            rows.append((name, "held" if found else "not held", len(kind), *shares))
    head = ["dataset", "answer", "questions", "answered", "right", "wrong", "refused"]
    return _table(head, rows)


def _lower(held_out: HeldOut, lower: float) -> list[str]:
    above = held_out.passages >= lower
    kept, spared = above[held_out.labels].mean(), (~above)[~held_out.labels].mean()
    return [f"`lower` {lower:g} keeps {kept:.1%} of all passages that answer and drops",
            f"{spared:.1%} of the others."]  # fmt: skip


def _errors(held_out: HeldOut) -> list[str]:
    return _table(
        ["of", "n", "Brier", "ECE"],
        [
            _error("sentences", held_out.sentences, held_out.states),
            _error("passages, by their best sentence", held_out.passages, held_out.labels),
        ],
    )


def _error(name: str, values: NDArray[np.float64], labels: NDArray[np.bool_]) -> tuple[Any, ...]:
    brier = float(np.mean((values - labels) ** 2))
    error = expected_calibration_error(values, labels)
    return name, len(values), f"{brier:.4f}", f"{error:.4f}"


def _reliability(values: NDArray[np.float64], labels: NDArray[np.bool_]) -> list[str]:
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    rows = [
        (f"{b / BINS:g} to {(b + 1) / BINS:g}", (bins == b).sum(),
         f"{values[bins == b].mean():.3f}", f"{labels[bins == b].mean():.3f}")
        for b in range(BINS)
        if (bins == b).any()
    ]  # fmt: skip
    return _table(["probability", "sentences", "said, mean", "that answer"], rows)


def _fit_only(held_out: HeldOut) -> bool:
    return bool(set(FIT_ONLY) & set(held_out.datasets.tolist()))


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]
