"""Outcomes of games: which player won, and whether by a single game, a gammon or a backgammon."""

from enum import IntEnum

import numpy as np

from motif.board.packed import BAR_BIT, CHECKERS, OPPONENT_HOME_POINTS, PACKED_WORDS, occupied, pack_many
from motif.board.position import Position
from motif.compiler.jit import inline_kernel, kernel

_OPPONENTS_HOME = OPPONENT_HOME_POINTS | BAR_BIT


class Outcome(IntEnum):
    """Points won (+) or lost (-) by the player on roll, at cube 1; 0 for an unfinished game."""

    LOSE_BACKGAMMON = -3
    LOSE_GAMMON = -2
    LOSE_SINGLE = -1
    UNFINISHED = 0
    WIN_SINGLE = 1
    WIN_GAMMON = 2
    WIN_BACKGAMMON = 3


@inline_kernel
def checkers_on_board(words, first):
    """Count the checkers in the half that starts at word `first` (0 or 4) of a packed board, bar included."""
    # The bytes add up to at most 15, so that byte-wise sums never carry.
    total = np.uint64(words[first]) + np.uint64(words[first + 1])
    total += np.uint64(words[first + 2]) + np.uint64(words[first + 3])
    return np.int64((total * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inline_kernel
def _is_empty(words, first):
    return (words[first] | words[first + 1] | words[first + 2] | words[first + 3]) == 0


@inline_kernel
def _loss(words, loser):
    """Return the points (1 to 3) lost by the side whose half starts at word `loser`."""
    if checkers_on_board(words, loser) < CHECKERS:
        return 1
    return 3 if occupied(words, loser) & _OPPONENTS_HOME else 2


@inline_kernel
def finished_points(words):
    """Return points won (+) or lost (-) by the player on roll of a packed board int64[8]; 0 if unfinished."""
    opponent = PACKED_WORDS // 2
    if _is_empty(words, opponent):
        return -_loss(words, 0)
    if _is_empty(words, 0):
        return _loss(words, opponent)
    return 0


@kernel
def finished_points_many(words):
    """Return `finished_points` of each row of int64 (n, 8): int8 (n,)."""
    points = np.empty(words.shape[0], np.int8)
    for row in range(words.shape[0]):
        points[row] = finished_points(words[row])
    return points


def outcome(position: Position) -> Outcome:
    """Return the outcome for the player on roll."""
    return Outcome(int(finished_points_many(pack_many(position.board[None]).view(np.int64))[0]))
