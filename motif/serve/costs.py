"""Estimated costs of requests: seconds of a core per position, by kind and lookahead.

They choose the lane of a request and check its budget; the real time is measured while it runs
(`motif.serve.lanes`).
"""

from enum import Enum
from functools import lru_cache

import numpy as np

from motif.board.moves import play_batches
from motif.board.position import Position
from motif.evaluators import Evaluator
from motif.evaluators.known_players import Kind, entry_of, own_name, without_plies
from motif.evaluators.lookahead import LookaheadEvaluator
from motif.players.ranking import FULL_DEPTH

_STATIC, _ONE_PLY, _TWO_PLIES, _ROLLED, _PLAYED_OUT = range(5)
_MAX_OFF = 4
"""Most checkers that a play bears off."""


class RequestKind(Enum):
    """Kinds of requests: seconds at 0, 1 and 2 plies, with rollouts, and for endings that are played out."""

    EVALUATION = (4e-6, 5e-4, 6e-3, 0.06, 0.35)
    PLAYS = (4e-4, 6e-3, 0.05, 0.4, 4.5)
    CUBE = (2e-3, 5e-3, 0.03, 0.1, 0.7)
    EXPLANATION = (0.03, 0.05, 0.8, 4.0, 4.5)
    """Two plays and the rollout that compares them."""
    REASONS = (0.03, 0.05, 0.12, 0.8, 4.5)
    """Two plays with known estimates."""
    REVIEW = (4e-3, 0.02, 0.25, 1.5, 5.0)
    """A roll of a match: the play, the cube, the luck, and rollouts of possible errors."""


_DEPTHS = {"narrow": 0.5, "wide": 2.0, "full": 100.0}
"""Factors for other widths of lookahead."""
_NET = 20.0
"""Factor for a net."""
_USUAL_PLAYS = 20
"""Legal plays of a usual decision."""


@lru_cache(maxsize=1024)
def cost_of(ask: RequestKind, name: str, played_out: bool = False) -> float:
    """Return the seconds of a core that a player, such as ``latest@2:wide``, takes per position.

    Late endings that are `played_out` take the same time at any depth.
    """
    if played_out:
        return ask.value[_PLAYED_OUT]
    base = without_plies(own_name(name))
    plies, _, depth = own_name(name).removeprefix(base).removeprefix("@").partition(":")
    level = _ROLLED if depth == "rollout" else min(int(plies or 0), _TWO_PLIES)
    entry = entry_of(base)
    slower = _NET if entry is not None and entry.kind is Kind.NET else 1.0
    return ask.value[level] * _DEPTHS.get(depth, 1.0) * slower


def reply_cost(opponent: str, played_out: bool = False) -> float:
    """Return the seconds of a core that a player takes for a turn of a game: a cube decision and a play."""
    return sum(cost_of(ask, opponent, played_out) for ask in (RequestKind.PLAYS, RequestKind.CUBE))


def effort_of(position: Position, roll: tuple[int, int], full_depth: int = FULL_DEPTH) -> float:
    """Return how many times longer than usual ranking the plays of a roll, `full_depth` fully, may take."""
    (batch,) = play_batches(position.board[None], np.array([roll]))
    count = len(batch.boards)
    return max(1.0, count / _USUAL_PLAYS) * max(1.0, min(full_depth, count) / FULL_DEPTH)


def plays_endings(evaluator: Evaluator) -> bool:
    """Return whether `evaluator` plays late endings to the end."""
    return isinstance(evaluator, LookaheadEvaluator) and evaluator.takes_endings


def may_play_out(evaluator: Evaluator, position: Position) -> bool:
    """Return whether `evaluator` plays out `position`, or may do so after a play that bears off checkers."""
    if not isinstance(evaluator, LookaheadEvaluator):
        return False
    own = np.maximum(position.board, 0)
    off = np.clip(_MAX_OFF - (np.cumsum(own) - own), 0, own)
    boards = np.stack([position.board, position.board - off]).astype(np.int8)
    return bool(evaluator.plays_out(boards).any())
