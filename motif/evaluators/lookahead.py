"""Lookahead: every roll, the best reply by the evaluator below, averaged.

Plies are gnubg's and Motif's: 0-ply is the static evaluation; 1-ply averages over the 21 rolls,
with weights 1/36 and 2/36, the static value of the best reply.
"""

import numpy as np
import numpy.typing as npt

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import as_boards
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.probabilities import OUTPUTS, turned
from motif.runtime.errors import PlayerError

_POSITIONS_AT_ONCE = 512
_ROLL_WEIGHTS = ROLL_COUNTS / 36
MAX_PLIES = 3


class LookaheadEvaluator(Evaluator):
    """Any evaluator, seen `plies` further."""

    def __init__(self, base: Evaluator, plies: int) -> None:
        if not 1 <= plies <= MAX_PLIES:
            raise PlayerError(f"{base.name}@{plies}: lookahead must be 1 to {MAX_PLIES} plies")
        self.name = f"{base.name}@{plies}"
        self._below = base if plies == 1 else LookaheadEvaluator(base, plies - 1)

    @property
    def without_lookahead(self) -> Evaluator:
        """See `Evaluator.without_lookahead`."""
        return self._below.without_lookahead

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`."""
        boards = as_boards(positions)
        values = np.empty((len(boards), len(OUTPUTS)))
        for part in _slices(len(boards)):
            values[part] = self._averaged(boards[part], want_probabilities=True)
        return values.astype(np.float32)

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """See `Evaluator.equity_many`."""
        values = np.empty(len(boards))
        for part in _slices(len(boards)):
            values[part] = self._averaged(boards[part], want_probabilities=False)
        return values

    def _averaged(self, boards: Board, want_probabilities: bool) -> npt.NDArray[np.float64]:
        """Mean over the rolls of the best replies' probabilities (n, 5) or equities (n,)."""
        shape = (len(boards), len(OUTPUTS)) if want_probabilities else (len(boards),)
        values = np.zeros(shape)
        finished = finished_points_many(pack_many(boards).view(np.int64)) != 0
        if finished.any():
            ended = boards[finished]
            below = self._below
            values[finished] = below.evaluate_many(ended) if want_probabilities else below.equity_many(ended)
        going = np.flatnonzero(~finished)
        if not len(going):
            return values
        every_roll = np.tile(ROLLS, (len(going), 1))
        best = self._below.best_plays(np.repeat(boards[going], len(ROLLS), axis=0), every_roll)
        if want_probabilities:
            replies = turned(self._below.evaluate_many(best.boards)).reshape(len(going), len(ROLLS), -1)
            values[going] = (replies * _ROLL_WEIGHTS[:, None]).sum(axis=1)
        else:
            values[going] = (best.equities.reshape(len(going), len(ROLLS)) * _ROLL_WEIGHTS).sum(axis=1)
        return values


def _slices(count: int) -> list[slice]:
    return [slice(k, k + _POSITIONS_AT_ONCE) for k in range(0, count, _POSITIONS_AT_ONCE)]
