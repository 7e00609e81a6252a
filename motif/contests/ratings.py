"""Ratings of a tournament's players, by points per game and Elo.

Both are fitted to all pairings together and have mean zero.  Standard errors are computed over pairs of games
with the same dice, because the two games of a pair are not independent.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import chdtrc, expit

from motif.rollouts.tally import standard_errors
from motif.runtime.arrays import FloatArray, IntArray

ELO_A_LOGIT = 400 / math.log(10)
"""Elo points per unit of log-odds."""
_PSEUDOCOUNT = 0.5
"""Pairs of games added to each pairing, half of it won by either side.  Without it, a player who wins every
game would have an infinite Elo, and results without variance would have infinite weight."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of k players."""

    values: FloatArray
    """(k,): ratings, with mean 0."""
    se: FloatArray
    """(k,): standard errors of the distance from the mean; NaN for too few games."""


def with_pseudocounts(values: npt.ArrayLike, low: float, high: float) -> tuple[float, float]:
    """Return the mean of `values` (n,) and its standard error, with pseudocounts at `low` and `high`."""
    known = np.asarray(values, np.float64)
    count = len(known) + _PSEUDOCOUNT
    mean = float(known.sum() + _PSEUDOCOUNT * (low + high) / 2) / count
    added = _PSEUDOCOUNT * ((low - mean) ** 2 + (high - mean) ** 2) / 2
    squares = float(((known - mean) ** 2).sum()) + added
    return mean, math.sqrt(squares / (count * len(known)))


def points_ratings(
    players: int, pairings: IntArray, ppg: FloatArray, se: FloatArray
) -> tuple[Ratings, float]:
    """Rate players by weighted least squares on the points per game of their pairings.

    `pairings` (p, 2) are player numbers, `ppg` (p,) the first player's points per game, `se` (p,) their
    standard errors.  Also return the p-value of the chi-square of the residuals: small if the points are not
    transitive, NaN without degrees of freedom.
    """
    design = _differences(players, pairings)
    weights = se**-2.0
    covariance = _inverse(design, weights)
    values = covariance @ (design.T @ (weights * ppg))
    left_over = float((weights * (ppg - design @ values) ** 2).sum())
    freedom = len(pairings) - (players - 1)
    fit = float(chdtrc(freedom, left_over)) if freedom > 0 else math.nan
    return Ratings(values, standard_errors(covariance)), fit


def elo_ratings(players: int, pairings: IntArray, share: FloatArray, se: FloatArray) -> Ratings:
    """Rate players in Elo by maximum likelihood in the Bradley-Terry model (Biometrika 39, 1952).

    `share` (p,) are the shares of games won by the first player of each of `pairings` (p, 2), which all have
    the same number of games, and `se` (p,) their standard errors.  The errors of the ratings are White's
    (Econometrica 50, 1982), because the two games of a pair are not independent.
    """
    design = _differences(players, pairings)
    # The first player's rating is fixed at zero; all ratings are centred afterwards.
    free = design[:, 1:]

    def cost(logits: FloatArray) -> tuple[float, FloatArray]:
        odds = free @ logits
        return float((np.logaddexp(0.0, odds) - share * odds).sum()), free.T @ (expit(odds) - share)

    def curvature(logits: FloatArray) -> FloatArray:
        chance = expit(free @ logits)
        return free.T @ ((chance * (1 - chance))[:, None] * free)

    options: dict[str, Any] = {"gtol": 1e-10}
    start = np.zeros(players - 1)
    found = minimize(cost, start, jac=True, hess=curvature, method="trust-exact", options=options).x
    logits = np.concatenate([[0.0], found])
    logits -= logits.mean()
    chance = expit(design @ logits)
    inverse = _inverse(design, chance * (1 - chance))
    covariance = inverse @ (design.T @ ((se**2)[:, None] * design)) @ inverse
    return Ratings(ELO_A_LOGIT * logits, ELO_A_LOGIT * standard_errors(covariance))


def _differences(players: int, pairings: IntArray) -> FloatArray:
    """Return the matrix (p, players) that maps ratings to rating differences."""
    rows = np.arange(len(pairings))
    design = np.zeros((len(pairings), players))
    design[rows, pairings[:, 0]] = 1
    design[rows, pairings[:, 1]] = -1
    return design


def _inverse(design: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the pseudo-inverse of the information (players, players)."""
    information = design.T @ (weights[:, None] * design)
    return np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)
