"""Cubeful equity as a function of the chance to win: straight lines between a few points.

So it is in Janowski's model (Take-Points in Money Games, 1993): a dead cube gives one straight line from
losing to winning; a live cube gives straight lines between the points at which somebody cashes; and the
equity at efficiency x lies the part x of the way from the dead line to the live ones.
"""

from typing import NamedTuple

import numpy as np

from motif.cube.outcomes import Floats


class Curve(NamedTuple):
    """Equity of n positions over the chance to win, k points each."""

    chances: Floats
    """(n, k), from 0 to 1, never falling."""
    values: Floats
    """(n, k)"""

    def at(self, chances: Floats) -> Floats:
        """The equity (n,) at one chance to win for each position."""
        found = self.values[:, 0]
        for k in range(self.chances.shape[1] - 1):
            left, width = self.chances[:, k], self.chances[:, k + 1] - self.chances[:, k]
            rise = self.values[:, k + 1] - self.values[:, k]
            part = np.divide(chances - left, width, out=np.zeros_like(left), where=width > 0)
            found = np.where(chances > left, self.values[:, k] + rise * part, found)
        return np.where(chances >= 1, self.values[:, -1], found)


def mixed(chances: list[Floats], live: list[Floats], lose: Floats, win: Floats, x: float | Floats) -> Curve:
    """The curve at efficiency `x`, a number or (n,), of a live cube's points: their chances and equities.

    `lose` and `win` are the dead cube's ends.  A point that would lie before its predecessor is moved there.
    """
    places = np.maximum.accumulate(np.clip(np.stack(np.broadcast_arrays(*chances), axis=1), 0.0, 1.0), axis=1)
    dead = lose[:, None] + (win - lose)[:, None] * places
    share = np.broadcast_to(np.asarray(x, np.float64), lose.shape)[:, None]
    return Curve(places, dead + share * (np.stack(np.broadcast_arrays(*live), axis=1) - dead))
