"""Ratings of a tournament's players, by points per game and Elo.

Both are fitted to all pairings at once and have mean zero.  Their standard errors come from the scatter of
pairs of games with the same dice, since the two games of a pair are not independent.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import chdtrc, expit

Pairings = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
ELO_A_LOGIT = 400 / math.log(10)
"""Elo points of one unit of log-odds."""
_PSEUDOCOUNT = 0.5
"""Pairs of games added to a pairing, half of it won by either side: without them a player who wins every game
would have an infinite Elo, and results without spread infinite weight."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of k players."""

    values: Values
    """(k,): their mean is 0."""
    se: Values
    """(k,): standard errors of the distance from the mean of all; NaN for too few games."""


def with_pseudocounts(values: npt.ArrayLike, low: float, high: float) -> tuple[float, float]:
    """Return the mean of `values` (n,) and its standard error, with half a value added: `low` and `high`."""
    known = np.asarray(values, np.float64)
    count = len(known) + _PSEUDOCOUNT
    mean = float(known.sum() + _PSEUDOCOUNT * (low + high) / 2) / count
    added = _PSEUDOCOUNT * ((low - mean) ** 2 + (high - mean) ** 2) / 2
    squares = float(((known - mean) ** 2).sum()) + added
    return mean, math.sqrt(squares / (count * len(known)))


def points_ratings(players: int, pairings: Pairings, ppg: Values, se: Values) -> tuple[Ratings, float]:
    """Rate players by weighted least squares over the points per game of their pairings.

    `pairings` (p, 2) are numbers of players, `ppg` (p,) points per game of the first of them, `se` their
    standard errors.  The second value is the p-value of the residuals' chi-square, small where points do not
    add up; NaN where there are no degrees of freedom.
    """
    design = _differences(players, pairings)
    weights = se**-2.0
    covariance = _inverse(design, weights)
    values = covariance @ (design.T @ (weights * ppg))
    left_over = float((weights * (ppg - design @ values) ** 2).sum())
    freedom = len(pairings) - (players - 1)
    fit = float(chdtrc(freedom, left_over)) if freedom > 0 else math.nan
    return Ratings(values, _errors(covariance)), fit


def elo_ratings(players: int, pairings: Pairings, share: Values, se: Values) -> Ratings:
    """Rate players in Elo, by maximum likelihood in the model of Bradley and Terry (Biometrika 39, 1952).

    `share` (p,) are shares of games won by the first player of each of `pairings` (p, 2), which all have
    the same number of games, and `se` their standard errors.  Errors are those of White (Econometrica
    50, 1982): the inverse information around the variance of the score, because it is not that of
    independent games.
    """
    design = _differences(players, pairings)
    # The first player's is held at zero; all are centred afterwards.
    free = design[:, 1:]

    def cost(logits: Values) -> tuple[float, Values]:
        odds = free @ logits
        return float((np.logaddexp(0.0, odds) - share * odds).sum()), free.T @ (expit(odds) - share)

    def curvature(logits: Values) -> Values:
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
    return Ratings(ELO_A_LOGIT * logits, ELO_A_LOGIT * _errors(covariance))


def _differences(players: int, pairings: Pairings) -> Values:
    """Return the matrix (p, players) whose product with ratings is the first player's less the second's."""
    rows = np.arange(len(pairings))
    design = np.zeros((len(pairings), players))
    design[rows, pairings[:, 0]] = 1
    design[rows, pairings[:, 1]] = -1
    return design


def _inverse(design: Values, weights: Values) -> Values:
    """Return the pseudo-inverse of the information (players, players)."""
    information = design.T @ (weights[:, None] * design)
    return np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)


def _errors(covariance: Values) -> Values:
    # Rounding can leave a hair below zero.
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))
