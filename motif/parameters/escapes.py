"""How many rolls let a checker run past the points that the other side has made."""

import numpy as np
import numpy.typing as npt

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.masks import ALL_POINTS
from motif.runtime.jit import inline_kernel

_REACH = 12
_REACH_MASK = np.uint64((1 << _REACH) - 1)
_BAR_INDEX = 24
_FIRST_BLOCKED = 15


def _escape_table() -> npt.NDArray[np.uint8]:
    """Of 36 rolls, how many one checker can play in full; bit d - 1 of the index blocks distance d.

    A roll counts when the point at the sum of the dice is open and so is a point on the way there;
    of a double, two dice count.  (The measure is Berliner's and gnubg's "escapes".)
    """
    table = np.zeros(1 << _REACH, np.uint8)
    for blocked in range(1 << _REACH):
        closed = [False] + [bool(blocked >> d & 1) for d in range(_REACH)]
        for (high, low), count in zip(ROLLS.tolist(), ROLL_COUNTS.tolist(), strict=True):
            if not closed[high + low] and not (closed[high] and closed[low]):
                table[blocked] += count
    return table


_ESCAPES = _escape_table()


@inline_kernel
def escapes(index, blockers):
    """Rolls of 36 that a checker on place `index` (0 to 24, own numbering) can run in full.

    `blockers` are the points made by the other side, in the OTHER side's numbering.
    """
    ahead = ((blockers & ALL_POINTS) >> np.uint64(_BAR_INDEX - index)) & _REACH_MASK
    return np.int64(_ESCAPES[ahead])


@inline_kernel
def best_block(blockers):
    """Most rolls of 36 that a checker could not run in full, at the worst of the places 15 to 24.

    `blockers` as for `escapes`.
    """
    least = np.uint8(36)
    for index in range(_FIRST_BLOCKED, _BAR_INDEX + 1):
        ahead = (blockers >> np.uint64(_BAR_INDEX - index)) & _REACH_MASK
        least = min(least, _ESCAPES[ahead])
    return 36 - np.int64(least)
