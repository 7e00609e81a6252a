"""A sequential test: when it is certain which of two players is better, however often one looks.

A gambler bets on each pair of games that the first player's mean is not m: of the money K a part is staked,
and K (1 + b (x - m)) is left after a pair of mean x.  If m is the true mean, no stakes win in the long run,
and the money ever reaches 1 / a with probability a at most (Ville's inequality).  So you may look after every
pair, stop when you like, and still be wrong at most as often as stated; the interval holds every m against
which the gambler has not won that much yet.  That is exact: all it asks is that pairs are independent and
that points lie between -3 and 3.

Source: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting",
Journal of the Royal Statistical Society B 86 (2024).  The money starts in equal parts on stakes b from
tiny to the largest allowed, for either player, because the size of the difference is not known.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import logsumexp

from motif.board.outcome import Outcome
from motif.rollouts.rollout_settings import check_error_rate

ERROR_RATE = 0.05
"""Share of contests between equal players that may end with a difference called certain."""
_MAX_POINTS = int(Outcome.WIN_BACKGAMMON)
"""Points of a cubeless game at most."""
_SUMS = 4 * _MAX_POINTS + 1
"""Points of a pair of games are -6 to 6."""
_PAIR_MEANS = np.arange(_SUMS) / 2 - _MAX_POINTS
# x - m is -6 to 6, and the stakes may not lose more than all.
_LARGEST_STAKE = 0.16
_SIZES = 8
_ONE_WAY = _LARGEST_STAKE / 2.0 ** np.arange(_SIZES)
_STAKES = np.concatenate([_ONE_WAY, -_ONE_WAY])


class SequentialTest:
    """A test that looks at pairs of games one after the other, until the better player is certain."""

    def __init__(self, error_rate: float = ERROR_RATE) -> None:
        """`error_rate` is the probability that equal players are ever told apart; raises `SettingError`."""
        check_error_rate(error_rate)
        self._limit = -math.log(error_rate)
        self._money = np.zeros(len(_STAKES))
        self._most = 0.0
        self._growth = _log_growth(0.0)

    @property
    def certain(self) -> bool:
        """Whether one player is significantly better, at the error rate."""
        return self._most >= self._limit

    @property
    def p_value(self) -> float:
        """Probability, at most, that equal players look so different at any time until now: 0 to 1."""
        return math.exp(-self._most)

    def add(self, points: npt.NDArray[np.int64 | np.float64]) -> int:
        """Look at `points` (pairs, 2) of the first player; return how many pairs were looked at.

        These are all of them, or those up to the pair that made it certain.
        """
        if self.certain or not len(points):
            return 0
        steps = self._growth[_sums(points)]
        # Added one after the other, so that it does not matter in which blocks pairs come.
        steps[0] += self._money
        money = steps.cumsum(axis=0)
        whole = _whole(money)
        over = whole >= self._limit
        looked = int(over.argmax()) + 1 if over.any() else len(points)
        self._money = money[looked - 1]
        self._most = max(self._most, float(whole[:looked].max()))
        return looked


def certain_interval(
    points: npt.NDArray[np.int64 | np.float64], error_rate: float = ERROR_RATE
) -> tuple[float, float]:
    """Return the lowest and highest points per game of the first player that `points` (pairs, 2) allow.

    However often you look it holds the true mean, but for a share `error_rate` of contests.  It also holds
    the mean of the games played, because no stakes gain against that.
    """
    check_error_rate(error_rate)
    ends = (-float(_MAX_POINTS), float(_MAX_POINTS))
    if not len(points):
        return ends
    counts = np.bincount(_sums(points), minlength=_SUMS)

    def over(mean: float) -> float:
        return float(_whole(counts @ _log_growth(mean))) + math.log(error_rate)

    # The money is convex in the mean, and crosses the limit at most once on either side.
    middle = float(counts @ _PAIR_MEANS) / len(points)
    low, high = (brentq(over, middle, end) if over(end) > 0 else end for end in ends)
    return float(low), float(high)


def _sums(points: npt.NDArray[np.int64 | np.float64]) -> npt.NDArray[np.int64]:
    """Return the row of `_PAIR_MEANS` for each pair of (pairs, 2)."""
    return points.sum(axis=1, dtype=np.int64) + 2 * _MAX_POINTS


def _log_growth(mean: float) -> npt.NDArray[np.float64]:
    """Return the log growth of each stake after a pair of each sum, against `mean`: (sums, stakes)."""
    return np.log1p(_STAKES * (_PAIR_MEANS[:, None] - mean))


def _whole(money: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sum the money, from logarithms (..., stakes) of what each stake has made of its part."""
    return logsumexp(money, axis=-1) - math.log(len(_STAKES))
