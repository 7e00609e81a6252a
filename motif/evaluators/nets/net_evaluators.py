"""Nets as evaluators: those that motif exported to ONNX, with the inputs they take, and those of one output.

The one output says how good a position is for the player who has just moved, 0 to 1.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.outcome import checkers_on_board, finished_points_many
from motif.board.packed import CHECKERS, PACKED_BAR, PACKED_WORDS, Board, pack_many
from motif.board.position import as_boards
from motif.evaluators.bearoff import bearoff_tables, covered_rows, no_tables
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.nets.description import BY_WIN, EVALUATOR_INPUTS, PLANNED_INPUTS, NetDescription
from motif.evaluators.nets.net import Net
from motif.evaluators.point_table import checkers_by_place
from motif.evaluators.probabilities import OUTPUTS, WIN, equities, turned_equities, write_finished
from motif.parameters import ParameterSet
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many, plans_many
from motif.runtime.jit import kernel, words_of

FEATURES_INPUT, CLASS_INPUT, OFF_INPUT = "features", "position_class", "checkers_off"
PLAN_INPUT, CHECKERS_INPUT = "game_plan", "checkers"
PROBABILITIES_OUTPUT, EQUITY_OUTPUT = "probabilities", "equity"

CHECKERS_WIDTH = 2 * (PACKED_BAR + 1)
"""Numbers a row of the input ``checkers``."""
LAST_CLASS = len(CLASS_NAMES) - 1
"""`position_class` of an unfinished game is at most this; a finished one has 1, 2 or 3 more, by the
points that were won or lost."""


def graph_inputs(
    parameters: ParameterSet, positions: npt.ArrayLike, inputs: str = EVALUATOR_INPUTS
) -> dict[str, npt.NDArray[Any]]:
    """What an exported evaluator takes, by the name of the input, for `positions` int8 (n, 26).

    * ``features`` float32 (n, len(parameters)): scaled, in the order of the set.
    * ``position_class`` int64 (n,): 0 contact, 1 crashed, 2 race; 3 a game that ended with a single win,
      4 with a gammon, 5 with a backgammon.
    * ``checkers_off`` int64 (n, 2): what the player on roll and the opponent have borne off.

    With `inputs`, what the net's description says, `PLANNED_INPUTS` also

    * ``game_plan`` int64 (n,): index into `motif.parameters.position_class.PLANS`; -1 for a position without
      one.
    * ``checkers`` int64 (n, 50): checkers of the player on roll on his points 1 to 24 and his bar, then the
      opponent's on the opponent's points 1 to 24 and bar.

    Raises `PositionError` naming the first row that is no position.
    """
    boards = as_boards(positions)
    packed = pack_many(boards)
    points = np.abs(finished_points_many(packed.view(np.int64))).astype(np.int64)
    arrays: dict[str, npt.NDArray[Any]] = {
        FEATURES_INPUT: features(parameters, boards),
        CLASS_INPUT: np.where(points, LAST_CLASS + points, classify_many(packed).astype(np.int64)),
        OFF_INPUT: _checkers_off(packed),
    }
    if inputs == PLANNED_INPUTS:
        arrays[PLAN_INPUT] = plans_many(packed).astype(np.int64)
        checkers = checkers_by_place(packed).reshape(-1, CHECKERS_WIDTH)
        arrays[CHECKERS_INPUT] = checkers.astype(np.int64)
    return arrays


@kernel
def _checkers_off(packed):
    words = words_of(packed)
    off = np.empty((packed.shape[0], 2), np.int64)
    for k in range(packed.shape[0]):
        off[k, 0] = CHECKERS - checkers_on_board(words[k], 0)
        off[k, 1] = CHECKERS - checkers_on_board(words[k], PACKED_WORDS // 2)
    return off


class GraphEvaluator(Evaluator):
    """Evaluates with an exported graph, to the values and the ranking of the weight file it came from.

    Where the file asks for the bearoff tables their values take the place of the graph's.
    """

    def __init__(self, name: str, net: Net, description: NetDescription) -> None:
        assert description.parameters is not None  # whole evaluators read features
        self.name = name
        self._net = net
        self._parameters, self._inputs = description.parameters, description.inputs
        self._bearoff = description.bearoff

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`."""
        rows = self._run(positions)[PROBABILITIES_OUTPUT].astype(np.float32)
        known, exact = self._bearoffs(positions)
        rows[known] = exact
        return rows

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """See `Evaluator.equity_many`."""
        values = self._run(boards)[EQUITY_OUTPUT].astype(np.float64)
        known, exact = self._bearoffs(boards)
        values[known] = 2 * exact[:, WIN] - 1 if self._bearoff == BY_WIN else equities(exact)
        return values

    def _run(self, positions: npt.ArrayLike) -> Mapping[str, npt.NDArray[Any]]:
        return self._net.run(graph_inputs(self._parameters, positions, self._inputs))

    def _bearoffs(self, positions: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Numbers (m,) of the positions that the tables cover, and their probabilities (m, 5)."""
        tables = no_tables() if self._bearoff is None else bearoff_tables()
        return covered_rows(tables, pack_many(as_boards(positions)))


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
