"""Shots that a play leaves, immediately and after your own next roll.

A shot is an opponent's roll with a legal play that hits.  Blots in the opponent's home board, where hits cost
little, are not counted.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from motif.analysis.explain.situation import BACK
from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.moves import PlayBatch, play_batches
from motif.board.packed import BOARD_SIZE, POINTS, Board
from motif.parameters.motif_set import MOTIF_SET
from motif.parameters.named_sets import features
from motif.runtime.arrays import BoolArray, FloatArray
from motif.runtime.streams import DICE_PAIRS

_HITTING = MOTIF_SET.names.index("hitting_rolls")


class Exposure(NamedTuple):
    """The shots a play leaves."""

    shots: int
    """Rolls of 36 that can hit a blot outside the opponent's home board."""
    blots_back: bool
    """Whether there are blots in the opponent's home board."""

    @classmethod
    def of(cls, board: Board) -> "Exposure":
        """Return the exposure on a `board` (26,) after a play, seen by the mover."""
        rolls = _hit_by(board[None], BACK)[0]
        return cls(int(rolls @ ROLL_COUNTS), bool((board[BACK + 1 : BOARD_SIZE - 1] == 1).any()))


def _any_play(boards: Board, passes: Callable[[PlayBatch], BoolArray]) -> BoolArray:
    """Return for which rolls (n, 21) of each of `boards` (n, 26) a legal play `passes` a test."""
    found = np.zeros(len(boards) * len(ROLLS), np.bool_)
    for batch in play_batches(np.repeat(boards, len(ROLLS), axis=0), np.tile(ROLLS, (len(boards), 1))):
        found[batch.decisions] = np.logical_or.reduceat(passes(batch), batch.offsets[:-1])
    return found.reshape(len(boards), len(ROLLS))


def _hit_by(boards: Board, last: int) -> BoolArray:
    """Return which rolls (n, 21) can hit a blot of each of `boards` (n, 26) up to the point `last`."""
    hits = np.zeros((len(boards), len(ROLLS)), np.bool_)
    blots = boards[:, : last + 1] == 1
    open_ones = np.flatnonzero(blots.any(axis=1) & (boards < 0).any(axis=1))
    blots_of_each = np.repeat(blots[open_ones], len(ROLLS), axis=0)

    def is_hit(batch: PlayBatch) -> BoolArray:
        own = blots_of_each[batch.decisions][batch.decision]
        return np.asarray((own & (batch.boards[:, : last + 1] <= 0)).any(axis=1))

    hits[open_ones] = _any_play(-boards[open_ones, ::-1], is_hit)
    return hits


def safe_next_rolls(boards: Board, *, exactly: bool = False) -> FloatArray:
    """Return how many of your next 36 rolls have a safe play: (n,).

    `boards` (n, 26) are seen by the mover after a play; the opponent does not move in between.  Counting
    `exactly`, by legal plays, is slower than using the parameter that measures hitting rolls.
    """

    def is_safe(batch: PlayBatch) -> BoolArray:
        if not exactly:
            return np.asarray(features(MOTIF_SET, batch.boards)[:, _HITTING] == 0)
        after, which = np.unique(-batch.boards[:, ::-1], axis=0, return_inverse=True)
        return ~np.asarray(_hit_by(after, POINTS).any(axis=1))[which.ravel()]

    return np.asarray((_any_play(boards, is_safe) @ ROLL_COUNTS).astype(np.float64))


def risky_rolls(boards: Sequence[Board]) -> tuple[int, int]:
    """Return how many of your next 36 rolls must leave a shot after each of two plays' `boards` (26,)."""
    safe_next = safe_next_rolls(np.array(boards), exactly=True)
    first, second = (DICE_PAIRS - safe_next).astype(int).tolist()
    return first, second
