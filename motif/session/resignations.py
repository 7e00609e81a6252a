"""Resignations: certain losses, expected losses, and which offers to accept."""

import numpy as np
import numpy.typing as npt

from motif.board.movegen import ROLLS
from motif.board.moves import play_batches
from motif.board.outcome import finished_points_many
from motif.board.packed import CHECKERS, Board, pack_many
from motif.board.position import Position
from motif.board.rules import RESIGNATIONS, match_winner
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import switched_equities
from motif.session.session import GameSession

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


def expected_loss(position: Position, roll: tuple[int, int] | None, evaluator: Evaluator) -> float:
    """Return the expected cubeless loss, -3 to 3, of the player on roll, before or after `roll`."""
    certain = certain_loss(position, roll)
    if certain is not None:
        return RESIGNATIONS[certain]
    board = position.board[None]
    if roll is None:
        return float(switched_equities(evaluator.equity_many(board))[0])
    return float(switched_equities(evaluator.best_plays(board, np.array([roll])).equities)[0])


def is_accepted(session: GameSession, evaluator: Evaluator, offered: str) -> bool:
    """Return whether the opponent should accept the resignation `offered` by the player on roll.

    Accept if the resignation wins the match, if gammons do not count, or if `evaluator` expects no more from
    playing on, cubeless.
    """
    score = list(session.score)
    score[1 - session.on_roll] += RESIGNATIONS[offered] * session.cube
    if match_winner(session.rules.length, (score[0], score[1])) is not None or not session.gammons_count:
        return True
    return expected_loss(session.position, session.roll, evaluator) <= RESIGNATIONS[offered] + _ROUNDING
