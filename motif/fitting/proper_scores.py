"""How good stated chances are: the Brier score and the log-loss, and what a change makes of them.

Both are proper: nobody does better than by stating the true chance.  Each trial of a rollout is an
outcome, 0 or 1, so a label that is the share of trials won gives the mean over them.  Sources: Brier (1950);
Good, "Rational decisions" (1952).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.rollout.tally import error_over_groups

NEAREST_TO_CERTAIN = 1e-6
"""The log-loss takes a chance that is nearer to 0 or 1 for one this far from it; that of a lost
certainty would be infinite."""

_FloatArray = npt.NDArray[np.float64]


def brier_scores(chances: npt.ArrayLike, won: npt.ArrayLike) -> _FloatArray:
    """The mean of (chance - outcome)^2 over each position's trials (n,), whose share `won` (n,) was won."""
    stated, share = np.asarray(chances, np.float64), np.asarray(won, np.float64)
    return stated**2 - 2 * stated * share + share


def log_losses(chances: npt.ArrayLike, won: npt.ArrayLike) -> _FloatArray:
    """The mean of -log(chance of what happened), in nats, over each position's trials (n,)."""
    stated = np.clip(np.asarray(chances, np.float64), NEAREST_TO_CERTAIN, 1 - NEAREST_TO_CERTAIN)
    share = np.asarray(won, np.float64)
    return np.asarray(-(share * np.log(stated) + (1 - share) * np.log1p(-stated)))


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


def change(before: _FloatArray, after: _FloatArray, games: npt.NDArray[np.integer]) -> Change:
    """The change of scores (n,), n > 0, of positions from `games` (n,)."""
    differences = after - before
    return Change(
        float(before.mean()),
        float(after.mean()),
        float(differences.mean()),
        error_over_groups(differences, games),
    )
