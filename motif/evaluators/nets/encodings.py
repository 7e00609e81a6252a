"""The inputs of wildbg's nets, as the author's training code lays them out.

Counts of checkers become four numbers each: [n = 1, n = 2, n >= 3, n - 3 where more].  All positions
are seen by the player on roll, in his numbering.

* contact (202): own checkers off, the opponent's off; own bar, own points 1 to 24; the opponent's
  bar, the opponent's checkers on points 1 to 24.
* race (186): the same without the bars, own point 24 and the opponent's checkers on point 1, where
  nobody can stand in a race.
"""

import numpy as np
import numpy.typing as npt

from motif.board.position import CHECKERS, OPPONENT_BAR, OWN_BAR, POINTS, Board
from motif.runtime.jit import inline_kernel, kernel

NUMBERS_A_COUNT = 4
OFF_NUMBERS = 2
CONTACT_WIDTH = OFF_NUMBERS + 2 * NUMBERS_A_COUNT * (POINTS + 1)
RACE_WIDTH = OFF_NUMBERS + 2 * NUMBERS_A_COUNT * (POINTS - 1)


@inline_kernel
def _write_count(count, row, place):
    """Write one count to `row` from `place` on; return the next place."""
    row[place] = 1.0 if count == 1 else 0.0
    row[place + 1] = 1.0 if count == 2 else 0.0
    row[place + 2] = 1.0 if count >= 3 else 0.0
    row[place + 3] = max(count - 3, 0)
    return place + NUMBERS_A_COUNT


@inline_kernel
def _write_off(board, row):
    """Write the checkers that both sides have borne off."""
    own, opponent = 0, 0
    for place in range(board.shape[0]):
        own += max(board[place], 0)
        opponent += max(-board[place], 0)
    row[0] = CHECKERS - own
    row[1] = CHECKERS - opponent


@kernel
def _fill_contact(boards, rows):
    for k in range(boards.shape[0]):
        board, row = boards[k], rows[k]
        _write_off(board, row)
        place = _write_count(board[OWN_BAR], row, OFF_NUMBERS)
        for point in range(1, POINTS + 1):
            place = _write_count(board[point], row, place)
        place = _write_count(-board[OPPONENT_BAR], row, place)
        for point in range(1, POINTS + 1):
            place = _write_count(-board[point], row, place)


@kernel
def _fill_race(boards, rows):
    for k in range(boards.shape[0]):
        board, row = boards[k], rows[k]
        _write_off(board, row)
        place = OFF_NUMBERS
        for point in range(1, POINTS):
            place = _write_count(board[point], row, place)
        for point in range(2, POINTS + 1):
            place = _write_count(-board[point], row, place)


def contact_inputs(boards: Board) -> npt.NDArray[np.float32]:
    """Inputs float32 (n, 202) of wildbg's contact net for `boards` int8 (n, 26)."""
    rows = np.empty((len(boards), CONTACT_WIDTH), np.float32)
    _fill_contact(boards, rows)
    return rows


def race_inputs(boards: Board) -> npt.NDArray[np.float32]:
    """Inputs float32 (n, 186) of wildbg's race net for `boards` int8 (n, 26), all of them races."""
    rows = np.empty((len(boards), RACE_WIDTH), np.float32)
    _fill_race(boards, rows)
    return rows
