"""wildbg's nets as an evaluator: finished game, race, or anything else, each in its own way.

Source: carsten-wenderdel/wildbg and wildbg-training.  Crashed positions have no net of their own.

Inputs are as the author's training code lays them out.  Counts of checkers become four numbers each:
[n = 1, n = 2, n >= 3, n - 3 where more].  All positions are seen by the player on roll, in his numbering.

* contact (202): own checkers off, the opponent's off; own bar, own points 1 to 24; the opponent's
  bar, the opponent's checkers on points 1 to 24.
* race (186): the same without the bars, own point 24 and the opponent's checkers on point 1, where
  nobody can stand in a race.
"""

import numpy as np
import numpy.typing as npt

from motif.board.outcome import checkers_on_board, finished_points_many
from motif.board.packed import CHECKERS, OPPONENT_BAR, OWN_BAR, PACKED_WORDS, POINTS, Board, pack_many
from motif.board.position import as_boards
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.nets.net import Net
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    make_consistent,
    write_finished,
)
from motif.parameters.position_class import RACE, classify_many
from motif.runtime.jit import inline_kernel, kernel, words_of

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


EXCLUSIVE = 6
"""Outputs of a net: win single, gammon, backgammon, then the same losses."""


class WildbgEvaluator(Evaluator):
    """Evaluates with a net for contact and one for races."""

    def __init__(self, name: str, contact: Net, race: Net | None) -> None:
        """Without `race` the contact net, whose inputs can say all positions, serves everywhere."""
        self.name = name
        self._contact = contact
        self._race = race

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`."""
        boards = as_boards(positions)
        packed = pack_many(boards)
        exclusive = np.zeros((len(boards), EXCLUSIVE), np.float32)
        going = finished_points_many(packed.view(np.int64)) == 0
        races = going & (classify_many(packed) == RACE) & (self._race is not None)
        others = going & ~races
        if self._race is not None and races.any():
            exclusive[races] = self._race.run_one(race_inputs(boards[races]))
        if others.any():
            exclusive[others] = self._contact.run_one(contact_inputs(boards[others]))
        rows = np.empty((len(boards), len(OUTPUTS)), np.float32)
        _fill_cumulative(packed, exclusive, rows)
        write_finished(packed, rows)
        return rows


@kernel
def _fill_cumulative(packed, exclusive, rows):
    """Write the five cumulative chances (n, 5) for six exclusive ones (n, 6)."""
    words = words_of(packed)
    row = np.zeros(rows.shape[1])
    for k in range(packed.shape[0]):
        six = exclusive[k].astype(np.float64)
        row[WIN_BACKGAMMON] = six[2]
        row[WIN_GAMMON] = six[1] + six[2]
        row[WIN] = six[0] + six[1] + six[2]
        row[LOSE_BACKGAMMON] = six[5]
        row[LOSE_GAMMON] = six[4] + six[5]
        own_off = CHECKERS - checkers_on_board(words[k], 0)
        opponent_off = CHECKERS - checkers_on_board(words[k], PACKED_WORDS // 2)
        make_consistent(row, own_off, opponent_off)
        for j in range(rows.shape[1]):
            rows[k, j] = row[j]
