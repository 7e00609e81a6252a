"""Columns that encode the number of checkers on each point, for fits and for wildbg's nets.

For each side, the player on roll and then the opponent, and each point in that side's own numbering (the bar
last), four columns encode 1, 2, 3 and more checkers: exactly one of the first three is 1 on a point with
checkers, and the fourth counts those beyond three. The weight of one of the first three is therefore the
total contribution of 1, 2 or 3 checkers.
"""

import numpy as np

from motif.board.packed import BOARD_SIZE, OWN_BAR, PACKED_BAR, Board
from motif.compiler.jit import inline_kernel, kernel
from motif.evaluators.point_table import POINT_STEPS
from motif.runtime.arrays import FloatArray

_PLACES = PACKED_BAR + 1
POINT_SHAPE = (2, _PLACES, POINT_STEPS)
"""Shape of the columns: side (own, opponent), point, step."""
POINT_COLUMNS = 2 * _PLACES * POINT_STEPS


def step_columns(boards: Board) -> FloatArray:
    """Return the columns (n, 200) of `boards` int8 (n, 26), from the perspective of the player on roll."""
    out = np.empty((len(boards), POINT_COLUMNS))
    fill_step_columns(np.ascontiguousarray(boards), 0, out)
    return out


@inline_kernel
def columns_of(place, checkers):
    """Return the columns of `checkers`, at least 1, on one of the 50 places.

    These are the number of the column that is 1, and the number and the value of that of further checkers.
    """
    first, few = place * POINT_STEPS, min(checkers, POINT_STEPS - 1)
    return first + few - 1, first + POINT_STEPS - 1, np.float32(checkers - few)


@inline_kernel
def columns_at(index, signed):
    """Return `columns_of` the `signed` checkers at an index of a board, or -1, -1 and 0 without checkers."""
    if signed == 0:
        return -1, -1, np.float32(0)
    return columns_of(index - 1 if signed > 0 else _PLACES + OWN_BAR - 1 - index, abs(signed))


@kernel
def fill_step_columns(boards, first, out):
    """Write the columns of `boards` int8 (n, 26) to columns `first`, ... of `out` (n, ...)."""
    for row in range(boards.shape[0]):
        for column in range(first, first + POINT_COLUMNS):
            out[row, column] = 0
        for index in range(BOARD_SIZE):
            column, further, more = columns_at(index, np.int64(boards[row, index]))
            if column >= 0:
                out[row, first + further] = more
                out[row, first + column] = 1
