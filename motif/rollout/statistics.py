"""Means and their standard errors, and what a difference is worth."""

import math

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


def error_over_groups(values: npt.NDArray[np.float64], groups: npt.NDArray[np.integer]) -> float:
    """Standard error of the mean of `values` (n,), of which those of one group, such as a game, go together.

    A group's sum of deviations from the mean is one observation.  NaN for a single group.  Source: Liang
    and Zeger (1986), for a mean; with each value a group of its own it is the usual standard error.
    """
    names, place = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        return math.nan
    sums = np.bincount(place, values - values.mean())
    return math.sqrt(np.sum(sums**2) * len(names) / (len(names) - 1)) / len(values)


def p_value(difference: float, se: float) -> float:
    """Chance of a difference at least this large, either way, where there is none (normal distribution)."""
    if math.isnan(se):
        return math.nan
    if se > 0:
        return math.erfc(abs(difference) / se / math.sqrt(2))
    return 1.0 if difference == 0 else 0.0
