"""Intervals and calibration figures."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
BLOCK = 200
"""Resamples worked on at once: 16 MB for 10,000 rows; all of them are kept in 40 MB."""
BINS = 10


def bootstrap_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean; for paired differences pass those."""
    if not len(values):
        raise ValueError("no values")
    ((low, high),) = bootstrap_intervals(np.asarray(values, dtype=float)[:, None], seed=seed)
    return low, high


def bootstrap_intervals(values: NDArray[np.float64], *, seed: int = 0) -> list[tuple[float, float]]:
    """The interval of each column's mean over its rows that are not NaN, all columns on the same
    resamples of rows (Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979).

    A resample in which a column has no value is left out of that column's interval; a column
    without any value has (NaN, NaN).
    """
    means = _resampled(values, seed)
    return [_ends(means[:, column]) for column in range(values.shape[1])]


def difference_intervals(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], *, seed: int = 0
) -> list[tuple[float, float]]:
    """As bootstrap_intervals, of each column's mean in `ours` less that in `theirs`. Row i of both
    is the same question, and a resample draws it for both; a column's NaN may differ."""
    differences = _resampled(ours, seed) - _resampled(theirs, seed)
    return [_ends(differences[:, column]) for column in range(ours.shape[1])]


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, "Probable Inference", JASA 1927): of none in 100 it
    goes up to .037, where resampling would see no doubt. Raises ValueError without cases."""
    if n < 1:
        raise ValueError("no cases")
    z = 1.959964
    centre = (successes + z * z / 2) / (n + z * z)
    half = z * math.sqrt(successes * (n - successes) / n + z * z / 4) / (n + z * z)
    return max(0.0, centre - half), min(1.0, centre + half)


def _resampled(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The columns' means in each resample; the same seed and number of rows draw the same rows."""
    rows, columns = values.shape
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    means = np.empty((RESAMPLES, columns))
    for start in range(0, RESAMPLES, BLOCK):
        drawn = _draws(rows, seed)[start : start + BLOCK].astype(float)
        with np.errstate(invalid="ignore"):
            means[start : start + BLOCK] = (drawn @ filled) / (drawn @ known)
    return means


@lru_cache(maxsize=1)
def _draws(rows: int, seed: int) -> NDArray[np.uint16]:
    """How often each resample holds each row. Kept: a report resamples the same questions for
    every pipeline and gain, and drawing is the slow part."""
    random = np.random.default_rng(seed)
    drawn = np.empty((RESAMPLES, rows), dtype=np.uint16)
    for start in range(0, RESAMPLES, BLOCK):
        size = min(BLOCK, RESAMPLES - start)
        drawn[start : start + size] = random.multinomial(rows, np.full(rows, 1 / rows), size=size)
    return drawn


def _ends(means: NDArray[np.float64]) -> tuple[float, float]:
    kept = means[~np.isnan(means)]
    if not len(kept):
        return math.nan, math.nan
    low, high = np.percentile(kept, [2.5, 97.5])
    return float(low), float(high)


def expected_calibration_error(
    probabilities: NDArray[np.float64], labels: NDArray[np.bool_]
) -> float:
    """Mean gap between confidence and frequency over BINS equal-width bins, weighted by size."""
    bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    gaps = [
        abs(probabilities[bins == b].mean() - labels[bins == b].mean()) * (bins == b).mean()
        for b in range(BINS)
        if (bins == b).any()
    ]
    return float(sum(gaps))
