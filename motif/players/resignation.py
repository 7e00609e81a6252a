"""Resignations: what can be offered, and whether it is enough for the other player.

Points are in units of the cube.
"""

from typing import TYPE_CHECKING

import numpy as np

from motif.board.moves import play_batches
from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.evaluators.probabilities import turned_equities

if TYPE_CHECKING:
    from motif.players.game_session import GameSession

RESIGNATIONS = {"single": 1, "gammon": 2, "backgammon": 3}
"""What can be lost, and its points."""

_ROUNDING = 1e-6
"""Probabilities are float32: a lost single game may seem to be worth a little more than a point."""


def possible_resignations(position: Position) -> list[str]:
    """What the player on roll can offer to lose, the least first: no gammon with checkers off."""
    return list(RESIGNATIONS) if position.own_off == 0 else ["single"]


def expected_loss(position: Position, roll: tuple[int, int] | None, evaluator: Evaluator) -> float:
    """The points that the player on roll, with `roll` to play or before it, loses on average: -3 to 3.

    Cubeless, says `evaluator`.
    """
    board = position.board[None]
    if roll is None:
        return float(turned_equities(evaluator.equity_many(board))[0])
    equities = evaluator.play_equities(board, next(play_batches(board, np.array([roll]))))
    return float(turned_equities(equities).min())


def is_accepted(session: "GameSession", evaluator: Evaluator, offered: str) -> bool:
    """Whether the other player of `session` should be content with what the player on roll has `offered`.

    He is where it wins him the match, where gammons do not count, and where playing on is worth no more
    to him, says `evaluator`, cubeless.
    """
    winner, rules = 1 - session.on_roll, session.rules
    wins_match = rules.length and session.score[winner] + RESIGNATIONS[offered] * session.cube >= rules.length
    if wins_match or not session.gammons_count:
        return True
    return expected_loss(session.position, session.roll, evaluator) <= RESIGNATIONS[offered] + _ROUNDING
