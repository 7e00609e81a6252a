"""Point terms: how many checkers stand on each place, coded in steps, as columns of a fit.

For each side, the player on roll and then the opponent, and each place in that side's own numbering
(the bar last), four columns tell 1, 2, 3 and more checkers: exactly one of the first three is 1 on a
place with checkers, and the fourth counts those beyond three.  A weight of one of the first three is
so the whole amount that 1, 2 or 3 checkers add.

A board has few of these columns that are not 0, so nothing but `fill_step_columns` forms them: what a
place adds to a product, or collects from one, stands in a table by the number of checkers there.
"""

import numpy as np
import numpy.typing as npt

from motif.board.position import BOARD_SIZE, CHECKERS, OWN_BAR, PACKED_BAR, Board
from motif.evaluators.point_table import tables_of
from motif.evaluators.weight_file import FILTER_STEPS
from motif.runtime.jit import fast_kernel, kernel

_Floats = npt.NDArray[np.float64]

STEPS = FILTER_STEPS
"""Columns a place: 1, 2 and 3 checkers, and each further one."""
PLACES = PACKED_BAR + 1
POINT_SHAPE = (2, PLACES, STEPS)
"""Side (own, opponent), place, step."""
POINT_COLUMNS = 2 * PLACES * STEPS

_STEP_VALUES = np.ascontiguousarray(tables_of(np.eye(STEPS, dtype=np.float32)).T.astype(np.float64))
"""(16, STEPS): the columns of one place, by the number of checkers there."""
_SIGNED_COUNTS = 2 * CHECKERS + 1
"""What a place of a board can hold: 15 of the opponent's checkers (-15) to 15 of one's own."""


@kernel
def fill_step_columns(boards, first, out):
    """Write the point terms of `boards` int8 (n, 26) to columns `first`, ... of `out` (n, ...)."""
    for row in range(boards.shape[0]):
        for column in range(first, first + POINT_COLUMNS):
            out[row, column] = 0
        for index in range(BOARD_SIZE):
            signed = np.int64(boards[row, index])
            if signed == 0:
                continue
            side, place, checkers = 0, index - 1, signed
            if signed < 0:
                side, place, checkers = 1, OWN_BAR - 1 - index, -signed
            column = first + (side * PLACES + place) * STEPS
            for step in range(STEPS):
                out[row, column + step] = _STEP_VALUES[checkers, step]


@fast_kernel
def _look_up(boards, table, out):
    for row in range(boards.shape[0]):
        total = 0.0
        for index in range(BOARD_SIZE):
            total += table[index, np.int64(boards[row, index]) + CHECKERS]
        out[row] += total


@fast_kernel
def _collect(boards, row_values, table):
    for row in range(boards.shape[0]):
        value = row_values[row]
        for index in range(BOARD_SIZE):
            table[index, np.int64(boards[row, index]) + CHECKERS] += value


def add_products(boards: Board, weights: _Floats, power: int, out: _Floats) -> None:
    """Add to `out` (n,) the point terms of `boards` (n, 26), each to `power`, times `weights` (200,)."""
    amounts = np.asarray(weights).reshape(POINT_SHAPE) @ (_STEP_VALUES**power).T
    table = np.zeros((BOARD_SIZE, _SIGNED_COUNTS))
    table[1:, CHECKERS:] = amounts[0]
    table[:OWN_BAR, CHECKERS::-1] += amounts[1, ::-1]
    _look_up(boards, table, out)


def add_sums(boards: Board, row_values: _Floats, power: int, sums: _Floats) -> None:
    """Add to `sums` (200,) those over `boards` (n, 26) of each point term, to `power`, times `row_values`."""
    table = np.zeros((BOARD_SIZE, _SIGNED_COUNTS))
    _collect(boards, row_values, table)
    collected = np.stack([table[1:, CHECKERS:], table[:OWN_BAR, CHECKERS::-1][::-1]])
    sums += (collected @ _STEP_VALUES**power).ravel()


def step_columns(boards: Board) -> _Floats:
    """The point terms of `boards` int8 (n, 26), seen by the player on roll: (n, 200)."""
    out = np.empty((len(boards), POINT_COLUMNS))
    fill_step_columns(np.ascontiguousarray(boards), 0, out)
    return out
