"""Shots that a play leaves, immediately and after your own next roll.

A shot is an opponent's roll with a legal play that hits.  Blots in the opponent's home board, where hits cost
little, are not counted.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.analysis.explain.situation import BACK
from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.moves import play_batches
from motif.board.packed import BOARD_SIZE, POINTS, Board
from motif.parameters.motif_set import MOTIF_SET
from motif.parameters.named_sets import features
from motif.runtime.streams import THROWS

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
        rolls = shots_by_roll(board)
        return cls(int(rolls @ ROLL_COUNTS), bool((board[BACK + 1 : BOARD_SIZE - 1] == 1).any()))


def shots_by_roll(board: Board) -> npt.NDArray[np.bool_]:
    """Return which rolls (21,) can hit the mover's blots up to the point `BACK` of a `board` (26,)."""
    return _hit_by(board[None], BACK)[0]


def _hit_by(boards: Board, last: int) -> npt.NDArray[np.bool_]:
    """Return which rolls (n, 21) can hit a blot of each of `boards` (n, 26) up to the point `last`."""
    hits = np.zeros((len(boards), len(ROLLS)), np.bool_)
    blots = boards[:, : last + 1] == 1
    open_ones = np.flatnonzero(blots.any(axis=1) & (boards < 0).any(axis=1))
    opponents = np.repeat(np.ascontiguousarray(-boards[open_ones, ::-1]), len(ROLLS), axis=0)
    flat, first = np.zeros(len(opponents), np.bool_), 0
    for batch in play_batches(opponents, np.tile(ROLLS, (len(open_ones), 1))) if len(open_ones) else ():
        decision = first + batch.decision
        hit = (blots[open_ones[decision // len(ROLLS)]] & (batch.boards[:, : last + 1] <= 0)).any(axis=1)
        np.logical_or.at(flat, decision, hit)
        first += len(batch.offsets) - 1
    hits[open_ones] = flat.reshape(-1, len(ROLLS))
    return hits


def safe_next_rolls(boards: Board, *, exactly: bool = False) -> npt.NDArray[np.float64]:
    """Return how many of your next 36 rolls have a safe play: (n,).

    `boards` (n, 26) are seen by the mover after a play; the opponent does not move in between.  Counting
    `exactly`, by legal plays, is slower than using the parameter that measures hitting rolls.
    """
    flat, first = np.zeros(len(boards) * len(ROLLS), np.bool_), 0
    for batch in play_batches(np.repeat(boards, len(ROLLS), axis=0), np.tile(ROLLS, (len(boards), 1))):
        if exactly:
            after, which = np.unique(-batch.boards[:, ::-1], axis=0, return_inverse=True)
            hit = np.asarray(_hit_by(after, POINTS).any(axis=1))
            safe = ~hit[which.ravel()]
        else:
            safe = features(MOTIF_SET, batch.boards)[:, _HITTING] == 0
        np.logical_or.at(flat, first + batch.decision, safe)
        first += len(batch.offsets) - 1
    safe_next = flat.reshape(len(boards), len(ROLLS)) @ ROLL_COUNTS
    return np.asarray(safe_next.astype(np.float64))


def risky_rolls(boards: Sequence[Board]) -> tuple[int, int]:
    """Return how many of your next 36 rolls must leave a shot after each of two plays' `boards` (26,)."""
    safe_next = safe_next_rolls(np.array(boards), exactly=True)
    first, second = (THROWS - safe_next).astype(int).tolist()
    return first, second
