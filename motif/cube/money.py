"""Janowski's model for money play: cubeful equity in units of the cube.

Source: Rick Janowski, Take-Points in Money Games (1993), in the form of gnubg's `Cl2CfMoney`.  With W and
L the average value of a win and of a loss, a live cube is taken from (L - 1/2) / (W + L + 1/2) and cashed
from (L + 1) / (W + L + 1/2) on.
"""

import numpy as np

from motif.board.match_state import CubeOwner
from motif.cube.curves import Curve, mixed
from motif.cube.outcomes import Floats, Outcomes

DOUBLE_PASS = 1.0
"""What a double that is passed wins, in units of the cube before it."""


def money_curve(found: Outcomes, owner: CubeOwner, jacoby: bool, x: float | Floats) -> Curve:
    """Cubeful equity over the chance to win, where the cube is with `owner`, at efficiency `x`.

    Under the Jacoby rule gammons do not count while the cube is in the centre.
    """
    win, loss = found.average_win(float), found.average_loss(float)
    total = win - loss + 0.5
    take, cash = (-loss - 0.5) / total, (-loss + 1) / total
    if jacoby and owner == "centre":
        win, loss = np.ones_like(win), np.full_like(loss, -1.0)
    zero, one = np.zeros_like(win), np.ones_like(win)
    if owner == "centre":
        return mixed([zero, take, cash, one], [loss, -one, one, win], loss, win, x)
    if owner == "me":
        return mixed([zero, cash, one], [loss, one, win], loss, win, x)
    return mixed([zero, take, one], [loss, -one, win], loss, win, x)
