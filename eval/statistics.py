"""Intervals and calibration figures."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
BINS = 10


def bootstrap_interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean; for paired differences pass those."""
    sample = np.asarray(values, dtype=float)
    if not len(sample):
        raise ValueError("no values")
    random = np.random.default_rng(seed)
    means = [sample[random.integers(0, len(sample), len(sample))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
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
