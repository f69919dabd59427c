"""Bootstrap intervals for rows that belong together."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1_000

Weights = NDArray[np.int64]


def clustered_interval(
    clusters: Sequence[str], measure: Callable[[Weights], float], *, seed: int = 0
) -> tuple[float, float]:
    """The 95 % percentile interval of a measure over rows, whole clusters drawn with replacement.

    `measure` takes how often each row was drawn. Rows of one cluster, such as the claims on one
    document, go wrong together: drawing them one by one would make the interval too narrow (Field
    and Welsh, "Bootstrapping Clustered Data", JRSS B, 2007). Resamples on which the measure is
    NaN are left out; without any other the interval is (NaN, NaN). Raises ValueError without rows.
    """
    if not len(clusters):
        raise ValueError("no rows")
    names, of_row = np.unique(np.asarray(clusters), return_inverse=True)
    random = np.random.default_rng(seed)
    found = []
    for _ in range(RESAMPLES):
        drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)))
        found.append(measure(drawn[of_row]))
    values = np.array(found, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
