"""Columns that encode the number of checkers on each point, for fits and for wildbg's nets.

For each side, the player on roll and then the opponent, and each point in that side's own numbering (the bar
last), four columns encode 1, 2, 3 and more checkers: exactly one of the first three is 1 on a point with
checkers, and the fourth counts those beyond three. The weight of one of the first three is therefore the
total contribution of 1, 2 or 3 checkers.
"""

import numpy as np

from motif.board.packed import BOARD_SIZE, OWN_BAR, PACKED_BAR, Board
from motif.compiler.jit import inline_kernel, kernel
from motif.evaluators.point_table import POINT_STEPS, tables_of
from motif.runtime.arrays import FloatArray

_PLACES = PACKED_BAR + 1
POINT_SHAPE = (2, _PLACES, POINT_STEPS)
"""Shape of the columns: side (own, opponent), point, step."""
POINT_COLUMNS = 2 * _PLACES * POINT_STEPS
_STEP_VALUES = np.ascontiguousarray(tables_of(np.eye(POINT_STEPS, dtype=np.float32)).T.astype(np.float64))
"""(16, STEPS): the columns of one point, by the number of checkers there."""


def step_columns(boards: Board) -> FloatArray:
    """Return the columns (n, 200) of `boards` int8 (n, 26), from the perspective of the player on roll."""
    out = np.empty((len(boards), POINT_COLUMNS))
    fill_step_columns(np.ascontiguousarray(boards), 0, out)
    return out


@inline_kernel
def first_column(index, signed):
    """Return the first column of the point with `signed` checkers, not 0, at an index of a board."""
    place = index - 1 if signed > 0 else _PLACES + OWN_BAR - 1 - index
    return place * POINT_STEPS


@kernel
def fill_step_columns(boards, first, out):
    """Write the columns of `boards` int8 (n, 26) to columns `first`, ... of `out` (n, ...)."""
    for row in range(boards.shape[0]):
        for column in range(first, first + POINT_COLUMNS):
            out[row, column] = 0
        for index in range(BOARD_SIZE):
            signed = np.int64(boards[row, index])
            if signed == 0:
                continue
            column = first + first_column(index, signed)
            for step in range(POINT_STEPS):
                out[row, column + step] = _STEP_VALUES[abs(signed), step]
