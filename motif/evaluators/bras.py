"""BRAS, the Backgammon Relative Advantage Score (2025): eleven features, fixed weights, one tanh.

D = sum of weight x feature; g(D) = tanh(D / 3); S_me = 50 + 50 g(D) and S_op = 100 - S_me, in hundredths
of everything.  That is the form of a weight file with linear weights alone, so BRAS is one: it plays,
rolls out, looks ahead and is analysed as all others are, and S_me / 100 stands for its win chance.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.board.position import Position
from motif.evaluators.static import StaticEvaluator, weights_model
from motif.evaluators.weight_file import WeightFile, linear_head
from motif.parameters.bras_set import BRAS_SET
from motif.parameters.named_sets import features

SIGMA = 3.0
WEIGHTS = {
    "pip": 2.2,
    "bar": 2.0,
    "off": 1.6,
    "hb": 1.5,
    "prime": 1.3,
    "anch": 0.6,
    "blot": 1.1,
    "stack": 0.4,
    "out": 0.5,
    "x1": 1.0,
    "x2": -0.6,
}
"""By feature, as the article has them."""

_ROW = np.array([WEIGHTS[name] for name in BRAS_SET.names])


class BrasEvaluator(StaticEvaluator):
    """The score as an evaluator."""

    def __init__(self) -> None:
        heads = {"win": linear_head(0.0, _ROW / SIGMA)}
        weights = WeightFile("bras", 0, None, BRAS_SET, {"contact": heads})
        super().__init__("bras", weights_model(weights), weights)

    def details(self, position: Position) -> dict[str, Any]:
        """The features, D, g, S_me and S_op of one position; see `Evaluator.details`."""
        score = float(bras_scores(position.board[None])[0])
        g = math.tanh(score / SIGMA)
        scores = {"D": score, "g": g, "S_me": 50 + 50 * g, "S_op": 50 - 50 * g}
        return {"features": super().details(position)["features"], **scores}


def bras_scores(boards: Board) -> npt.NDArray[np.float64]:
    """D of each of `boards` int8 (n, 26), for the player on roll: float64 (n,), about -10 to 10."""
    # Not a matrix product: its last bits may depend on the number of rows.
    return np.asarray((features(BRAS_SET, boards).astype(np.float64) * _ROW).sum(axis=1))
