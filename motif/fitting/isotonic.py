"""Calibration: its knots, from shown win chances and the results of rollouts, and how good chances are.

Isotonic regression (scikit-learn) finds the rising steps that are most likely to have given the results;
no rising map has a lower log-loss on them.  Steps that say nearly the same are put together, and each
that is left becomes a knot: the mean chance shown there, as a raw sum, and the share of games won.  The
map between knots is that of `motif.evaluators.calibration`.

Source of the steps: Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass
probability estimates" (KDD 2002).

Chances are scored by the Brier score (Brier, 1950) and the log-loss (Good, "Rational decisions", 1952).
Both are proper: nobody does better than by stating the true chance.  Each trial of a rollout is an
outcome, 0 or 1, so a label that is the share of trials won gives the mean over them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.evaluators.calibration import KnotRows, raw_sums
from motif.rollout.tally import error_over_groups

MOST_KNOTS = 64
TOLERANCE = 1e-4
"""The log-loss per position that putting steps together may cost on the data of the fit."""
FEWEST_POSITIONS = 10
"""A step with fewer is put together with a neighbour, whatever that costs."""
END_SHARE = 0.98
"""At the lowest chance shown in the data a win is this much of what it is in the whole lowest step, and a
loss likewise at the highest: the map must rise there too, so that no order of plays is lost."""
NEAREST_TO_CERTAIN = 1e-6
"""The log-loss takes a chance that is nearer to 0 or 1 for one this far from it; that of a lost
certainty would be infinite."""
_FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A mean score before and after; less is better."""

    before: float
    after: float
    difference: float
    """After less before: below 0 where it has become better."""
    se: float
    """Standard error of `difference`; positions of one game count as one observation.  NaN for one game."""

    @property
    def clear(self) -> bool:
        """Whether the score fell by more than its standard error."""
        return self.difference < -self.se


def fit_knots(shown: npt.ArrayLike, won: npt.ArrayLike, trials: npt.ArrayLike) -> KnotRows:
    """Knots float32 (k, 2), k <= `MOST_KNOTS` + 2, score and chance both rising from row to row.

    `shown` chances (n,), n > 0, of positions whose rollouts, each of so many `trials`, were won to the
    share `won` (n,).  Positions count alike.  One trial is added that was won at the lowest chance, and one
    that was lost at the highest, so that nothing counts as impossible or certain.
    """
    chances = np.asarray(shown, np.float64)
    steps = _thinned(_steps(chances, np.asarray(won, np.float64), 1 / float(np.median(np.asarray(trials)))))
    knots, results = steps.shown, steps.won
    lowest, highest = float(chances.min()), float(chances.max())
    if lowest < knots[0]:
        knots, results = np.append(lowest, knots), np.append(END_SHARE * results[0], results)
    if highest > knots[-1]:
        knots, results = np.append(knots, highest), np.append(results, 1 - END_SHARE * (1 - results[-1]))
    return _rising(np.column_stack([raw_sums(knots), results]))


def brier_scores(chances: npt.ArrayLike, won: npt.ArrayLike) -> _FloatArray:
    """The mean of (chance - outcome)^2 over each position's trials (n,), whose share `won` (n,) was won."""
    stated, share = np.asarray(chances, np.float64), np.asarray(won, np.float64)
    return stated**2 - 2 * stated * share + share


def log_losses(chances: npt.ArrayLike, won: npt.ArrayLike) -> _FloatArray:
    """The mean of -log(chance of what happened), in nats, over each position's trials (n,)."""
    stated = np.clip(np.asarray(chances, np.float64), NEAREST_TO_CERTAIN, 1 - NEAREST_TO_CERTAIN)
    share = np.asarray(won, np.float64)
    return np.asarray(-(share * np.log(stated) + (1 - share) * np.log1p(-stated)))


def change(before: _FloatArray, after: _FloatArray, games: npt.NDArray[np.integer]) -> Change:
    """The change of scores (n,), n > 0, of positions from `games` (n,)."""
    differences = after - before
    return Change(
        float(before.mean()),
        float(after.mean()),
        float(differences.mean()),
        error_over_groups(differences, games),
    )


class _Steps(NamedTuple):
    """Steps in rising order, each array (k,)."""

    weights: _FloatArray
    """Positions."""
    shown: _FloatArray
    """Their mean shown chance."""
    won: _FloatArray
    """The share of the games that were won from there."""

    def together(self, first: int) -> "_Steps":
        """All steps, but the one numbered `first` and its successor put together."""
        pairs = self.pairs()
        return _Steps(
            *(
                np.concatenate([mine[:first], pair[first : first + 1], mine[first + 2 :]])
                for mine, pair in zip(self, pairs, strict=True)
            )
        )

    def pairs(self) -> "_Steps":
        """What each two neighbours make together, each array (k - 1,)."""
        weights = self.weights[:-1] + self.weights[1:]

        def mean(values: _FloatArray) -> _FloatArray:
            return (self.weights[:-1] * values[:-1] + self.weights[1:] * values[1:]) / weights

        return _Steps(weights, mean(self.shown), mean(self.won))

    def losses(self) -> _FloatArray:
        """Log-loss of each step's positions together, by its share of wins."""
        won, rest = self.won, 1 - self.won
        return -self.weights * (won * np.log(won) + rest * np.log(rest))


def _steps(shown: _FloatArray, won: _FloatArray, one_trial: float) -> _Steps:
    from sklearn.isotonic import isotonic_regression

    values, place = np.unique(shown, return_inverse=True)
    weights = np.bincount(place).astype(np.float64)
    wins = np.bincount(place, won)
    with_trials = weights.copy()
    wins[0] += one_trial
    with_trials[[0, -1]] += one_trial
    if len(values) == 1:
        with_trials[0] += one_trial
    heights = isotonic_regression(wins / with_trials, sample_weight=with_trials)
    _, step = np.unique(heights, return_inverse=True)
    total = np.bincount(step, weights).astype(np.float64)
    return _Steps(
        total,
        np.bincount(step, weights * values) / total,
        np.bincount(step, wins) / np.bincount(step, with_trials),
    )


def _thinned(steps: _Steps) -> _Steps:
    """The steps after the cheapest of their neighbours have been put together, again and again."""
    budget = TOLERANCE * float(steps.weights.sum())
    while len(steps.weights) > 1:
        losses = steps.losses()
        costs = steps.pairs().losses() - losses[:-1] - losses[1:]
        first = int(np.argmin(costs))
        smallest = int(np.argmin(steps.weights))
        if steps.weights[smallest] < FEWEST_POSITIONS:
            beside = [pair for pair in (smallest - 1, smallest) if 0 <= pair < len(costs)]
            first = min(beside, key=lambda pair: costs[pair])
        elif len(steps.weights) <= MOST_KNOTS and costs[first] > budget:
            break
        else:
            budget -= float(costs[first])
        steps = steps.together(first)
    return steps


def _rising(knots: _FloatArray) -> KnotRows:
    """`knots` as a weight file holds them, without those that single precision does not tell apart."""
    rows = knots.astype(np.float32)
    below_one = np.nextafter(np.float32(1), np.float32(0))
    rows[:, 1] = np.clip(rows[:, 1], np.finfo(np.float32).tiny, below_one)
    rungs = [rows[0]]
    for row in rows[1:]:
        if (row > rungs[-1]).all():
            rungs.append(row)
    return np.array(rungs)
