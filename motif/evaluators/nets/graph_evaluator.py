"""A fitted evaluator of motif's that was exported to ONNX, as a player again; and the inputs it takes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.outcome import checkers_on_board, finished_points_many
from motif.board.position import CHECKERS, PACKED_WORDS, Board, as_boards, pack_many
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.nets.net import Net
from motif.parameters import ParameterSet
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.parameters.sets import features
from motif.runtime.jit import kernel

FEATURES_INPUT, CLASS_INPUT, OFF_INPUT = "features", "position_class", "checkers_off"
PROBABILITIES_OUTPUT, EQUITY_OUTPUT = "probabilities", "equity"

LAST_CLASS = len(CLASS_NAMES) - 1
"""`position_class` of an unfinished game is at most this; a finished one has 1, 2 or 3 more, by the
points that were won or lost."""


def graph_inputs(parameters: ParameterSet, positions: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
    """What an exported evaluator takes, by the name of the input, for `positions` int8 (n, 26).

    * ``features`` float32 (n, len(parameters)): scaled, in the order of the set.
    * ``position_class`` int64 (n,): 0 contact, 1 crashed, 2 race; 3 a game that ended with a single win,
      4 with a gammon, 5 with a backgammon.
    * ``checkers_off`` int64 (n, 2): what the player on roll and the opponent have borne off.

    Raises `PositionError` naming the first row that is no position.
    """
    boards = as_boards(positions)
    packed = pack_many(boards)
    points = np.abs(finished_points_many(packed.view(np.int64))).astype(np.int64)
    return {
        FEATURES_INPUT: features(parameters, boards),
        CLASS_INPUT: np.where(points, LAST_CLASS + points, classify_many(packed).astype(np.int64)),
        OFF_INPUT: _checkers_off(packed),
    }


@kernel
def _checkers_off(packed):
    words = packed.view(np.int64)
    off = np.empty((packed.shape[0], 2), np.int64)
    for k in range(packed.shape[0]):
        off[k, 0] = CHECKERS - checkers_on_board(words[k], 0)
        off[k, 1] = CHECKERS - checkers_on_board(words[k], PACKED_WORDS // 2)
    return off


class GraphEvaluator(Evaluator):
    """Evaluates with an exported graph, to the values and the ranking of the weight file it came from."""

    def __init__(self, name: str, net: Net, parameters: ParameterSet) -> None:
        self.name = name
        self._net = net
        self._parameters = parameters

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`."""
        return self._run(positions)[PROBABILITIES_OUTPUT].astype(np.float32)

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """See `Evaluator.equity_many`."""
        return self._run(boards)[EQUITY_OUTPUT].astype(np.float64)

    def _run(self, positions: npt.ArrayLike) -> Mapping[str, npt.NDArray[Any]]:
        return self._net.run(graph_inputs(self._parameters, positions))
