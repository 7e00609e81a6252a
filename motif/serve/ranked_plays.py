"""The plays of a roll with moves, equity and chances of each, as other programs' interfaces want them."""

from typing import NamedTuple

import numpy as np

from motif.analysis.judge import COMPARABLE
from motif.board.moves import decode_path, play_batches
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.evaluators import Evaluator, Probabilities
from motif.evaluators.evaluator import PlayBatch
from motif.evaluators.probabilities import turned, turned_equities
from motif.evaluators.stakes import NO_CUBE, Stakes
from motif.runtime.errors import PositionError


class RankedPlay(NamedTuple):
    """A play and what it is worth to the mover."""

    moves: tuple[tuple[int, int], ...]
    """Moves of single dice (from, to): 25 is the bar, 0 is off."""
    equity: float
    chances: Probabilities
    is_deep: bool
    """Whether it was seen to the full depth, as the best are."""


def play_batch(position: Position, roll: tuple[int, int]) -> PlayBatch:
    """The legal plays of `roll`, the higher die first; raises `PositionError` when the game is over."""
    if outcome(position):
        raise PositionError("no plays: the game is over, one player has borne off all checkers")
    return next(play_batches(position.board[None], np.array([roll])))


def moves_of(batch: PlayBatch, roll: tuple[int, int]) -> list[tuple[tuple[int, int], ...]]:
    """The moves of each play of `batch`."""
    return [decode_path(path, roll)[0] for path in batch.paths.tolist()]


def ranked_plays(
    position: Position, roll: tuple[int, int], evaluator: Evaluator, stakes: Stakes = NO_CUBE
) -> list[RankedPlay]:
    """The legal plays of `roll`, the best first, valued for `stakes`; a dance is one play without moves."""
    batch = play_batch(position, roll)
    judge = evaluator.staked(stakes).thorough(COMPARABLE)
    values = judge.play_equities(position.board[None], batch)
    order = np.argsort(turned_equities(values), kind="stable")
    # Deep chances cost as much as deep equities: only the best have them.
    rows = evaluator.without_lookahead.evaluate_many(batch.boards)
    rows[order[:COMPARABLE]] = evaluator.evaluate_many(batch.boards[order[:COMPARABLE]])
    chances = turned(rows.astype(np.float64)).tolist()
    moves, equities = moves_of(batch, roll), values.tolist()
    return [
        RankedPlay(moves[row], equities[row], Probabilities(*chances[row]), rank < COMPARABLE)
        for rank, row in enumerate(order.tolist())
    ]
