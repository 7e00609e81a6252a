"""Ratings of players who have all met: in points a game, and in Elo from the games won.

Both are fitted to all pairings at once and have mean zero.  Their standard errors come from the scatter
of pairs of games with the same dice, since the two games of a pair are not independent.

A pairing counts as if half a pair of games more had been played, half of it won by either side with a
single game each: half a win for each side.  Without that a player who wins every game would have an
infinite Elo, and results without any spread infinite weight.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2

Pairings = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

ELO_A_LOGIT = 400 / math.log(10)
"""Elo points of one unit of the logarithm of the odds."""

_ADDED = 0.5


@dataclass(frozen=True)
class Ratings:
    """Of k players."""

    values: Values
    """(k,): their mean is 0."""
    se: Values
    """(k,): standard errors, of the distance from the mean of all."""


def softened(values: npt.ArrayLike, low: float, high: float) -> tuple[float, float]:
    """Mean of `values` (n,) and its standard error, with half a value added: `low` and `high` by halves."""
    known = np.asarray(values, np.float64)
    count = len(known) + _ADDED
    mean = float(known.sum() + _ADDED * (low + high) / 2) / count
    added = _ADDED * ((low - mean) ** 2 + (high - mean) ** 2) / 2
    squares = float(((known - mean) ** 2).sum()) + added
    return mean, math.sqrt(squares / (count * len(known)))


def points_ratings(players: int, pairings: Pairings, ppg: Values, se: Values) -> tuple[Ratings, float]:
    """Ratings whose differences are nearest to the points a game of the pairings, and how well they fit.

    `pairings` (p, 2) are numbers of players, `ppg` (p,) points a game of the first of them, `se` their
    standard errors, which weigh them: weighted least squares.  The second value is the chance of a fit
    as bad as this where points do add up (chi-square of the residuals); NaN where nothing is left over.
    """
    design = _differences(players, pairings)
    weights = se**-2.0
    covariance = _inverse(design, weights)
    values = covariance @ (design.T @ (weights * ppg))
    left_over = float((weights * (ppg - design @ values) ** 2).sum())
    freedom = len(pairings) - (players - 1)
    fit = float(chi2.sf(left_over, freedom)) if freedom > 0 else math.nan
    return Ratings(values, _errors(covariance)), fit


def elo_ratings(players: int, pairings: Pairings, share: Values, se: Values) -> Ratings:
    """Elo by maximum likelihood in the model of Bradley and Terry (Biometrika 39, 1952).

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
    """The matrix (p, players) that makes of ratings what the first is ahead of the second."""
    rows = np.arange(len(pairings))
    design = np.zeros((len(pairings), players))
    design[rows, pairings[:, 0]] = 1
    design[rows, pairings[:, 1]] = -1
    return design


def _inverse(design: Values, weights: Values) -> Values:
    """Pseudo-inverse of the information (players, players): adding to all ratings alike changes nothing."""
    information = design.T @ (weights[:, None] * design)
    return np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)


def _errors(covariance: Values) -> Values:
    # Rounding can leave a hair below zero.
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))
