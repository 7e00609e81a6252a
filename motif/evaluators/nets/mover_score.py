"""Nets with one output: how good a position is for the player who has just moved, 0 to 1."""

import numpy as np
import numpy.typing as npt

from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import as_boards
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.nets.net import Net
from motif.evaluators.probabilities import OUTPUTS, WIN, turned_equities, write_finished
from motif.parameters import ParameterSet
from motif.parameters.named_sets import features

_STRAIGHT = 0.98
"""Equities up to this, either way, are what the score says; beyond it they are drawn in, see `_within`."""


class MoverScoreEvaluator(Evaluator):
    """Ranks plays by the score of such a net, which knows no gammons.

    The win chance of the player on roll is 1 - score, cut to 0 and 1.
    """

    def __init__(self, name: str, net: Net, parameters: ParameterSet) -> None:
        self.name = name
        self._net = net
        self._parameters = parameters

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`."""
        boards = as_boards(positions)
        rows = np.zeros((len(boards), len(OUTPUTS)), np.float32)
        rows[:, WIN] = np.clip((1 + turned_equities(self._mover_equities(boards))) / 2, 0, 1)
        write_finished(pack_many(boards), rows)
        return rows

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """See `Evaluator.equity_many`; a win is worth 1 and a loss -1, whatever its size."""
        boards = as_boards(boards)
        points = finished_points_many(pack_many(boards).view(np.int64))
        return np.where(points, np.sign(points), turned_equities(_within(self._mover_equities(boards))))

    def _mover_equities(self, boards: Board) -> npt.NDArray[np.float64]:
        """The scores, stretched from 0..1 to -1..1: float64 (n,)."""
        scores = self._net.run_one(features(self._parameters, boards))
        return 2 * scores.reshape(len(boards)).astype(np.float64) - 1


def _within(equities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """`equities` in the same order, but all of them between -1 and 1.

    A net's last layer may be a plain sum, and then a score can lie beyond a win's.
    """
    room = 1 - _STRAIGHT
    beyond = np.maximum(np.abs(equities) - _STRAIGHT, 0)
    drawn_in = _STRAIGHT + room * beyond / (room + beyond)
    return np.where(beyond > 0, np.sign(equities) * drawn_in, equities)
