"""wildbg's nets as an evaluator: finished game, race, or anything else, each in its own way.

Source: carsten-wenderdel/wildbg and wildbg-training.  Crashed positions have no net of their own.
"""

import numpy as np
import numpy.typing as npt

from motif.board.outcome import checkers_on_board, finished_points_many
from motif.board.position import CHECKERS, PACKED_WORDS, as_boards, pack_many
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.finished import write_finished
from motif.evaluators.nets.encodings import contact_inputs, race_inputs
from motif.evaluators.nets.net import Net
from motif.evaluators.probabilities import (
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTPUTS,
    WIN,
    WIN_BACKGAMMON,
    WIN_GAMMON,
    make_consistent,
)
from motif.parameters.position_class import RACE, classify_many
from motif.runtime.jit import kernel

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
    words = packed.view(np.int64)
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
