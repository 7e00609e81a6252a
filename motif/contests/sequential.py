"""A sequential test of which of two players is better, valid for any number of looks.

A gambler bets on each pair of games that the first player's mean is not m: a pair with mean x multiplies the
money K by 1 + b (x - m), where b is the bet. If m is the true mean, the probability that K ever reaches 1 / a
is at most a (Ville's inequality). You may therefore look after every pair and stop at any time; the interval
contains every m that the gambler has not refuted. The only assumptions are independent pairs and points
between -3 and 3.

Source: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", Journal of
the Royal Statistical Society B 86 (2024).  The money is divided equally among bets of different sizes, for
either player, because the size of the difference is unknown.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import logsumexp

from motif.board.outcome import Outcome
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.settings import SIGNIFICANCE, check_significance

_MAX_POINTS = int(Outcome.WIN_BACKGAMMON)
"""Maximum points of a cubeless game."""
_SUMS = 4 * _MAX_POINTS + 1
"""Number of possible sums of a pair's points, -6 to 6."""
_PAIR_MEANS = np.arange(_SUMS) / 2 - _MAX_POINTS
# x - m is -6 to 6, and a bet cannot lose more than all the money.
_MAX_BET = 0.16
_SIZES = 8
_ONE_WAY = _MAX_BET / 2.0 ** np.arange(_SIZES)
_BETS = np.concatenate([_ONE_WAY, -_ONE_WAY])


class SequentialTest:
    """A sequential test, to which pairs of games are added until the better player is certain."""

    def __init__(self, significance: float = SIGNIFICANCE) -> None:
        """`significance` is the probability that equal players are called different.

        Raises `SettingError`.
        """
        check_significance(significance)
        self._limit = -math.log(significance)
        self._money = np.zeros(len(_BETS))
        self._most = 0.0
        self._growth = _log_growth(0.0)

    @property
    def certain(self) -> bool:
        """Whether one player is significantly better."""
        return self._most >= self._limit

    @property
    def p_value(self) -> float:
        """Upper bound on the probability that equal players differ this much at any time so far."""
        return math.exp(-self._most)

    def add(self, points: npt.NDArray[np.int64 | np.float64]) -> int:
        """Add the first player's `points` (pairs, 2); return how many pairs were needed.

        Not all pairs are needed if the result becomes certain before the last one.
        """
        if self.certain or not len(points):
            return 0
        steps = self._growth[_sums(points)]
        # Sequential sums, so that the result does not depend on the blocks.
        steps[0] += self._money
        money = steps.cumsum(axis=0)
        whole = _whole(money)
        over = whole >= self._limit
        looked = int(over.argmax()) + 1 if over.any() else len(points)
        self._money = money[looked - 1]
        self._most = max(self._most, float(whole[:looked].max()))
        return looked


def certain_interval(
    points: npt.NDArray[np.int64 | np.float64], significance: float = SIGNIFICANCE
) -> tuple[float, float]:
    """Return the confidence interval of the first player's mean points per game from `points` (pairs, 2).

    The intervals form a confidence sequence: they contain the true mean at all times, except in a share
    `significance` of contests. They always contain the observed mean.
    """
    check_significance(significance)
    ends = (-float(_MAX_POINTS), float(_MAX_POINTS))
    if not len(points):
        return ends
    counts = np.bincount(_sums(points), minlength=_SUMS)

    def over(mean: float) -> float:
        return float(_whole(counts @ _log_growth(mean))) + math.log(significance)

    # The money is convex in the mean, so it crosses the limit at most once on either side.
    middle = float(counts @ _PAIR_MEANS) / len(points)
    low, high = (brentq(over, middle, end) if over(end) > 0 else end for end in ends)
    return float(low), float(high)


def _sums(points: npt.NDArray[np.int64 | np.float64]) -> IntArray:
    """Return the row of `_PAIR_MEANS` for each pair (pairs, 2)."""
    return points.sum(axis=1, dtype=np.int64) + 2 * _MAX_POINTS


def _log_growth(mean: float) -> FloatArray:
    """Return the log growth of each bet by the sum of a pair's points, against `mean`: (sums, bets)."""
    return np.log1p(_BETS * (_PAIR_MEANS[:, None] - mean))


def _whole(money: FloatArray) -> FloatArray:
    """Return the log of the total money from the logs (..., bets) of each bet's money."""
    return logsumexp(money, axis=-1) - math.log(len(_BETS))
