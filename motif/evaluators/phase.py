"""The phase heuristic of a course project: 16 features, with a weight for each of three phases.

The heuristic scores a board for the player who has just moved. The score is linear in the 48 gated features
of the parameter set ``phase``, so the heuristic is a weight file like any other. Divided by its range
(min-max) the score is between 0 and 1; the source uses that as its network's target and does not mention
probabilities, so reading it as a win probability is motif's own interpretation.
"""

import numpy as np

from motif.board.packed import Board, pack_many
from motif.board.position import Position, PositionLike
from motif.evaluators.probabilities import switched_equities
from motif.evaluators.static import StaticEvaluator, weights_model
from motif.evaluators.weight_file import WeightFile, linear_head
from motif.parameters.named_sets import features
from motif.parameters.phase_set import PHASE_SET, PHASES, mover_phases
from motif.runtime.arrays import FloatArray

PHASE_WEIGHTS = np.array(
    [
        # The player who has just moved: early, middle and late game.
        [1.3, 1.7, 0.8],  # occupied points
        [3.0, 5.0, 8.0],  # borne off
        [0.0, 0.0, 0.0],  # on the bar
        [-0.5, -0.3, -0.1],  # blot distance
        [-0.6, -0.4, -0.2],  # total distance
        [-0.7, -0.9, -1.3],  # excess distance
        [-0.5, -0.7, -0.3],  # blots
        [1.4, 1.2, 1.7],  # on the board
        # The opponent.
        [0.0, 0.0, 0.0],  # on the board
        [0.0, 0.0, 0.0],  # blots
        [0.0, 0.0, 0.0],  # excess distance
        [0.8, 1.1, 0.5],  # total distance
        [0.0, 0.0, 0.0],  # blot distance
        [2.2, 2.7, 3.2],  # on the bar
        [0.0, 0.0, 0.0],  # borne off
        [0.0, 0.0, 0.0],  # occupied points
    ]
)
"""The source's table (16, 3)."""

LOWEST = float(np.minimum(PHASE_WEIGHTS.min(axis=1), 0).sum())
HIGHEST = float(np.maximum(PHASE_WEIGHTS.max(axis=1), 0).sum())
"""The largest change of the score by all features together, each in its worst or best phase."""

_ROW = PHASE_WEIGHTS.T.ravel()

# Coefficients of win = squash(INTERCEPT + SLOPE * score) for the player who has just moved, by least squares
# on 36 rollouts each of 21,655 positions of the heuristic's own games. The score says little about
# probabilities: the RMSE of the win probability is .28, and the standard deviation of the probabilities is
# .30.
INTERCEPT, SLOPE = -1.443, 4.520


class PhaseEvaluator(StaticEvaluator):
    """The heuristic as an evaluator."""

    def __init__(self) -> None:
        # The weights are for the player who has just moved, raw sums for the player on roll.
        bias = switched_equities(np.array(INTERCEPT - SLOPE * LOWEST / (HIGHEST - LOWEST)))
        linear = switched_equities(SLOPE * _ROW / (HIGHEST - LOWEST))
        heads = {"win": linear_head(float(bias), linear)}
        weights = WeightFile("phase", 0, None, PHASE_SET, {"contact": heads})
        super().__init__("phase", weights_model(weights), weights, gives_chances=False)

    def details(self, position: PositionLike) -> dict[str, object]:
        """Return the features for the phase of the player who moved last, and the score."""
        position = Position.of(position)
        boards = position.board[None]
        phase = PHASES[int(mover_phases(pack_many(boards))[0])]
        gated = super().details(position)["features"]
        assert isinstance(gated, dict)
        of_phase = {name: value for name, value in gated.items() if name.startswith(phase)}
        score = float(phase_scores(boards)[0])
        return {"features": of_phase, "phase": phase, "score_of_player_who_moved_last": score}


def phase_scores(boards: Board) -> FloatArray:
    """Return min-max scores float64 (n,), 0 to 1, of players who just moved to `boards` int8 (n, 26).

    As everywhere, the boards are from the perspective of the next player on roll.
    """
    # Not a matrix product: its last bits may depend on the number of rows.
    scores = (features(PHASE_SET, boards).astype(np.float64) * _ROW).sum(axis=1)
    return np.asarray((scores - LOWEST) / (HIGHEST - LOWEST))
