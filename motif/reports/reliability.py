"""How well stated chances agree with rollouts, in numbers."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.rollout.tally import error_over_groups

BINS = 10
"""Equal parts of the chances from 0 to 1."""
FEWEST_GAMES = 3
"""A mean over fewer games says nothing and has no usable error."""


@dataclass(frozen=True)
class Reliability:
    """Fitted chances of one kind in one class of positions, against the rollouts'."""

    counts: npt.NDArray[np.int64]
    """(BINS,) positions by fitted chance."""
    fitted: npt.NDArray[np.float64]
    """(BINS,) mean fitted chance in each bin; NaN where the bin holds too few games."""
    rollout: npt.NDArray[np.float64]
    """(BINS,) mean chance by rollout there."""
    se: npt.NDArray[np.float64]
    """(BINS,) standard error of `rollout`; positions of one game count as one observation."""
    rmse: float
    noise: float
    """At most this much of `rmse` is noise of the rollouts, whose trials are few."""


def reliability(
    fitted: npt.NDArray[np.floating],
    rollout: npt.NDArray[np.floating],
    trials: npt.NDArray[np.integer],
    game: npt.NDArray[np.integer],
) -> Reliability:
    """Compare `fitted` with `rollout`, both (n,), n > 0; `game` tells which positions belong together."""
    places = np.minimum((fitted * BINS).astype(np.int64), BINS - 1)
    means = np.full((3, BINS), np.nan)
    for place in np.unique(places):
        inside = places == place
        means[:, place] = _means(fitted[inside], rollout[inside], game[inside])
    # A trial lies between 0 and 1, so its variance is at most that of a coin with the same mean.
    noise = np.mean(fitted * (1.0 - fitted) / trials)
    return Reliability(
        counts=np.bincount(places, minlength=BINS),
        fitted=means[0],
        rollout=means[1],
        se=means[2],
        rmse=math.sqrt(np.mean((fitted - rollout) ** 2)),
        noise=math.sqrt(noise),
    )


def _means(
    fitted: npt.NDArray[np.floating], rollout: npt.NDArray[np.floating], game: npt.NDArray[np.integer]
) -> tuple[float, float, float]:
    """Mean fitted chance, mean rollout and its standard error; NaN when the games are too few."""
    if len(np.unique(game)) < FEWEST_GAMES:
        return math.nan, math.nan, math.nan
    # Positions of a game resemble each other.
    return float(fitted.mean()), float(rollout.mean()), error_over_groups(rollout - fitted, game)
