"""Means and standard errors from sums of trials."""

import numpy as np
import numpy.typing as npt


def mean_and_error(
    sums: npt.NDArray[np.float64], squares: npt.NDArray[np.float64], trials: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Means of `trials` results and their standard errors; the errors of a single trial are NaN."""
    means = sums / trials
    if trials < 2:
        return means, np.full_like(means, np.nan)
    # Rounding can leave a hair below zero where all trials agree.
    variances = np.maximum(squares - trials * means**2, 0.0) / (trials - 1)
    return means, np.sqrt(variances / trials)
