"""Means of trials and their covariances, for random and stratified dice.

Each trial has a row of values y.  With random dice, the covariance of the mean of N rows is S / N, where S
is the covariance of the rows.  Stratified dice (see `playout`) fix how often each first and second roll
occurs, which removes the variance explained by these rolls.  The covariance of the sum is then the sum of
three parts, each exact or conservative:

Whole cycles of 1,296 trials
    contain each pair of the 36 rolls once, and therefore each pair of the 21 distinct rolls 4, 2 or 1 times.
    Each pair is a cell.  With the sample covariance S_c of a cell of n trials, the covariance of the sum is
    the sum over cells of n S_c (Cochran, Sampling Techniques, 5.3).  Pairs of doubles, with one trial each,
    are assumed to vary like the other pairs with the same first roll.
Whole rounds of 36 trials
    contain each first roll and each second roll once.  The residuals e of a least-squares fit
    y = mean + first roll + second roll, with the leverage h of each trial, give the covariance
    sum of e'e / (1 - h).  It is not too small where the trials after some rolls vary more than others
    (MacKinnon and White, 1985, HC2).  A single round is too short for this fit; its first rolls are cells as
    above, with all doubles in one cell.
Remaining trials
    count as random.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from motif.board.movegen import IS_DOUBLE, ROLLS
from motif.rollouts.playout import CYCLE, ROUND
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.streams import DICE_PAIRS

RollsOf = Callable[[int, int], IntArray]
"""Function from a first trial and n to the first two rolls (n, 2) of n trials, as in `playout.first_rolls`.
"""
_RANK_TOLERANCE = 1e-9


class Tally:
    """Sums of the rows of trials 0, 1, ..., which are added in order and in portions of any size."""

    def __init__(self, columns: int, rolls_of: RollsOf | None = None) -> None:
        """Start without trials; `rolls_of` returns the first rolls of stratified trials."""
        self.trials = 0
        self._done = 0  # trials of whole cycles; the others are pending
        self._rolls_of = rolls_of
        self._origin = np.zeros(columns)
        self._sum = np.zeros(columns)
        self._products = np.zeros((columns, columns))
        self._cycle_errors = np.zeros((columns, columns))
        self._pending = np.empty((0, columns))

    def add(self, values: FloatArray) -> None:
        """Add the rows (n, columns) of the next n trials."""
        if self.trials == 0 and len(values):
            # Sums are relative to one of the values, so that equal values have exactly zero variance.
            self._origin = values[0].copy()
        self.trials += len(values)
        self._pending = np.concatenate([self._pending, values - self._origin])
        while len(self._pending) >= CYCLE:
            cycle, self._pending = self._pending[:CYCLE], self._pending[CYCLE:]
            if self._rolls_of:
                self._cycle_errors += _cycle_covariance(cycle, self._rolls_of(self._done, CYCLE))
            self._sum += cycle.sum(axis=0)
            self._products += cycle.T @ cycle
            self._done += CYCLE

    def of_columns(self, columns: npt.NDArray[np.intp]) -> "Tally":
        """Return an independent tally of some of the columns."""
        part = Tally(len(columns), self._rolls_of)
        part.trials, part._done = self.trials, self._done
        part._origin, part._sum = self._origin[columns], self._sum[columns]
        part._pending = self._pending[:, columns]
        pairs = np.ix_(columns, columns)
        part._products, part._cycle_errors = self._products[pairs], self._cycle_errors[pairs]
        return part

    def mean(self) -> FloatArray:
        """Return the means of the columns."""
        return self._origin + self._total() / self.trials

    def covariance(self) -> FloatArray:
        """Return the covariance (columns, columns) of the means; NaN for a single trial."""
        n = self.trials
        if n < 2:
            return np.full_like(self._products, np.nan)
        total = self._total()
        products = self._products + self._pending.T @ self._pending
        a_trial = (products - np.outer(total, total) / n) / (n - 1)
        if self._rolls_of is None:
            return a_trial / n
        rounds = len(self._pending) // ROUND * ROUND
        errors = self._cycle_errors + (len(self._pending) - rounds) * a_trial
        if rounds:
            errors += _rounds_covariance(self._pending[:rounds], self._rolls_of(self._done, rounds))
        return errors / n**2

    def errors(self) -> FloatArray:
        """Return the standard errors of the means."""
        return standard_errors(self.covariance())

    def _total(self) -> FloatArray:
        return self._sum + self._pending.sum(axis=0)


def standard_errors(covariance: FloatArray) -> FloatArray:
    """Return the standard errors (n,) of values with a `covariance` (n, n)."""
    # Rounding can make a variance slightly negative if all trials agree.
    return np.asarray(np.sqrt(np.maximum(np.diagonal(covariance), 0.0)))


def _cycle_covariance(values: FloatArray, rolls: IntArray) -> FloatArray:
    """Return the covariance of the sum of a whole cycle."""
    first, second = rolls.T
    alone = IS_DOUBLE[first] & IS_DOUBLE[second]
    first, second, values = first[~alone], second[~alone], values[~alone]
    residuals = _cell_residuals(values, len(ROLLS) * first + second)
    residuals[IS_DOUBLE[first]] *= np.sqrt(DICE_PAIRS / (DICE_PAIRS - IS_DOUBLE.sum()))
    return residuals.T @ residuals


def _rounds_covariance(values: FloatArray, rolls: IntArray) -> FloatArray:
    """Return the covariance of the sum of whole rounds, fewer than a cycle."""
    first, second = rolls.T
    if len(values) == ROUND:
        residuals = _cell_residuals(values, np.where(IS_DOUBLE[first], len(ROLLS), first))
        return residuals.T @ residuals
    columns = np.stack([first, len(ROLLS) + second], axis=1)
    pairs = np.zeros((2 * len(ROLLS), 2 * len(ROLLS)))
    sums = np.zeros((2 * len(ROLLS), values.shape[1]))
    for which in (0, 1):
        np.add.at(sums, columns[:, which], values)
        for other in (0, 1):
            np.add.at(pairs, (columns[:, which], columns[:, other]), 1.0)
    # The normal equations have one redundant mean, so the pseudo-inverse is needed.
    strengths, directions = np.linalg.eigh(pairs)
    independent = strengths > _RANK_TOLERANCE * strengths[-1]
    directions, strengths = directions[:, independent], strengths[independent]
    directions /= np.sqrt(strengths)
    loads = directions[columns].sum(axis=1)
    # Two doubles follow each other once in a cycle at most, so that no leverage is 1.
    free = 1 - np.sum(loads**2, axis=1, keepdims=True)
    residuals = (values - loads @ (directions.T @ sums)) / np.sqrt(free)
    return residuals.T @ residuals


def _cell_residuals(values: FloatArray, cells: IntArray) -> FloatArray:
    """Return deviations r from the means of `cells` (n,) of two or more rows; the sum's covariance is r'r."""
    _, cell, counts = np.unique(cells, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, cell, values)
    return (values - (sums / counts[:, None])[cell]) * np.sqrt(counts / (counts - 1))[cell, None]


def mean_and_error(sums: FloatArray, squares: FloatArray, trials: int) -> tuple[FloatArray, FloatArray]:
    """Return the means of `trials` results and their standard errors, NaN for a single trial."""
    means = sums / trials
    if trials < 2:
        return means, np.full_like(means, np.nan)
    # Rounding can make it slightly negative if all trials agree.
    variances = np.maximum(squares - trials * means**2, 0.0) / (trials - 1)
    return means, np.sqrt(variances / trials)


def error_over_groups(values: FloatArray, groups: npt.NDArray[np.integer]) -> float:
    """Return the standard error of the mean of `values` (n,) that are in `groups` (n,), such as games.

    The sum of a group's deviations from the mean is one observation.  The result is NaN for a single group,
    and the usual standard error if each group has one value.  Source: Liang and Zeger (1986), for a mean.
    """
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        return math.nan
    sums = np.bincount(group, values - values.mean())
    return math.sqrt(np.sum(sums**2) * len(names) / (len(names) - 1)) / len(values)


def p_value(difference: float, se: float, count: float = math.inf) -> float:
    """Return the two-sided p-value of a mean difference of `count` values, from Student's t distribution.

    For infinitely many values this is the normal distribution.  Equal values have no standard error to
    measure the difference by; their p-value is that of the sign test.
    """
    # Import here, because SciPy's special functions take a tenth of a second to import.
    from scipy.special import stdtr

    if math.isnan(se):
        return math.nan
    if se > 0:
        return float(2 * stdtr(count - 1, -abs(difference) / se))
    return 1.0 if difference == 0 else 2.0 ** (1 - count)
