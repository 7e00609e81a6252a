"""Resignations: certain losses, their values, and which offers to accept."""

import numpy as np
import numpy.typing as npt

from motif.board.match_state import MatchState
from motif.board.movegen import ROLLS
from motif.board.moves import play_batches
from motif.board.outcome import finished_points_many
from motif.board.packed import CHECKERS, Board, pack_many
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS
from motif.doubling.cube_states import cube_model_for, without_doubles
from motif.evaluators import Evaluator
from motif.evaluators.cube_model import EVEN, CubeModel
from motif.evaluators.probabilities import switched_equities

LOSSES = {points: loss for loss, points in RESIGNATIONS.items()}
"""Kinds of resignations by their points."""
_ROUNDING = 1e-6
"""Tolerance for float32 probabilities: a lost single game may cost slightly more than a point."""
_BORNE_OFF_BY_ANY_ROLL = 2
"""Number of checkers that any roll can bear off."""


def certain_loss(position: Position, roll: tuple[int, int] | None) -> str | None:
    """Return the certain loss of the player on roll, before or after `roll`; None if uncertain.

    A loss is certain if every roll of the opponent bears off the last checkers and no play before it changes
    the result.
    """
    if CHECKERS - position.opponent_off > _BORNE_OFF_BY_ANY_ROLL:
        return None
    rolls = ROLLS if roll is None else np.array([roll])
    own = next(play_batches(np.repeat(position.board[None], len(rolls), axis=0), rolls))
    if _points(own.boards).any():
        return None
    before = np.repeat(own.boards, len(ROLLS), axis=0)
    theirs = next(play_batches(before, np.tile(ROLLS, (len(own.boards), 1))))
    lost = np.maximum.reduceat(switched_equities(_points(theirs.boards)), theirs.offsets[:-1])
    by_play = lost.reshape(len(own.boards), len(ROLLS))
    most = int(np.minimum.reduceat(by_play.max(axis=1), own.offsets[:-1]).max())
    return LOSSES[most] if most == by_play.min() > 0 else None


def _points(boards: Board) -> npt.NDArray[np.int8]:
    return np.asarray(finished_points_many(pack_many(boards).view(np.int64)))


def value_of_playing_on(position: Position, state: MatchState, evaluator: Evaluator) -> float:
    """Return the normalised equity of the player on roll, with a dead cube, before or after a roll.

    The roll is that of `state`.  The equity depends on the score, and on the Jacoby rule.
    """
    cube_model = without_doubles(state)
    certain = certain_loss(position, state.dice)
    if certain is not None:
        return _value(cube_model, certain)
    board = position.board[None]
    if state.dice is None:
        return float(evaluator.cubeful_equities(board, cube_model, 0)[0])
    return float(evaluator.with_cube(cube_model).best_plays(board, np.array([state.dice])).equities[0])


def value_of_resigning(state: MatchState, loss: str) -> float:
    """Return the normalised equity of the player on roll after resigning `loss`."""
    return _value(cube_model_for(state), loss)


def _value(cube_model: CubeModel, loss: str) -> float:
    return float(cube_model.equities[cube_model.state, 0, 0, EVEN - RESIGNATIONS[loss]])


def is_accepted(position: Position, state: MatchState, evaluator: Evaluator, loss: str) -> bool:
    """Return whether the opponent should accept the resignation of the player on roll, who offers `loss`.

    Accept if no loss costs more, as at match point, or if `evaluator` expects no more from playing on.
    """
    resigned = value_of_resigning(state, loss)
    if resigned <= min(value_of_resigning(state, other) for other in RESIGNATIONS):
        return True
    return resigned <= value_of_playing_on(position, state, evaluator) + _ROUNDING
