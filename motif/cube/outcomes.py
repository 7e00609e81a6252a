"""How games end at one level of the cube: the chance to win, and how many wins and losses are gammons.

The cube model moves the chance to win while the shares of gammons among wins and among losses stay.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
)
from motif.runtime.errors import SettingError

Floats = npt.NDArray[np.float64]

# Estimates may leave 0 to 1 by what float32 rounds.
_ROUNDING = 1e-6


class Outcomes(NamedTuple):
    """Of n positions, seen by one player; each field float64 (n,)."""

    win: Floats
    win_gammons: Floats
    """Share of the wins that are gammons or backgammons."""
    win_backgammons: Floats
    lose_gammons: Floats
    lose_backgammons: Floats

    def turned(self) -> "Outcomes":
        """The same, seen by the other player."""
        return Outcomes(
            1 - self.win,
            self.lose_gammons,
            self.lose_backgammons,
            self.win_gammons,
            self.win_backgammons,
        )

    def average_win(self, worth: Callable[[int], float]) -> Floats:
        """What a win is worth on average (n,); `worth` gives that of 1, 2 and 3 times the cube."""
        return _average(worth, 1, self.win_gammons, self.win_backgammons)

    def average_loss(self, worth: Callable[[int], float]) -> Floats:
        """The same of a loss, of -1, -2 and -3 times the cube."""
        return _average(worth, -1, self.lose_gammons, self.lose_backgammons)


def outcomes(probabilities: npt.ArrayLike) -> Outcomes:
    """The `Outcomes` of five cumulative probabilities, (5,) or (n, 5).

    Raises `SettingError` for what are no probabilities.
    """
    rows = np.atleast_2d(np.asarray(probabilities, np.float64))
    if rows.ndim != 2 or rows.shape[1] != len(OUTPUTS):
        raise SettingError(f"expected {len(OUTPUTS)} probabilities a position, got the shape {rows.shape}")
    bad = ~((rows >= -_ROUNDING) & (rows <= 1 + _ROUNDING))
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        raise SettingError(f"{OUTPUTS[column]} is {rows[row, column]:g}, no chance from 0 to 1")
    rows = np.clip(rows, 0.0, 1.0)
    win = rows[:, WIN]
    return Outcomes(
        win,
        *(_share(rows[:, column], win) for column in (WIN_GAMMON, WIN_BACKGAMMON)),
        *(_share(rows[:, column], 1 - win) for column in (LOSE_GAMMON, LOSE_BACKGAMMON)),
    )


def _share(part: Floats, whole: Floats) -> Floats:
    """`part` of `whole`, at most all of it; none of nothing."""
    shares = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return np.minimum(shares, 1.0)


def _average(worth: Callable[[int], float], sign: int, gammons: Floats, backgammons: Floats) -> Floats:
    single, gammon, backgammon = (worth(sign * points) for points in (1, 2, 3))
    return single + (gammon - single) * gammons + (backgammon - gammon) * backgammons
