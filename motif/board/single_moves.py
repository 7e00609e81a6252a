"""One checker and one die: where it can be played, and what it changes.

Boards are packed (see `position`); `own` and `opponent` are where the mover's half and the other one
start in the bytes of a board.
"""

import numpy as np
import numpy.typing as npt

from motif.board.masks import BAR_BIT
from motif.board.position import PACKED_BAR, POINTS
from motif.runtime.jit import inline_kernel, leading_zeros

# A move in a path is one byte: the source's index + 1, plus a flag when it hits, and one when it
# plays the lower die of two different ones.
PATH_SOURCE = 31
PATH_HIT = 64
PATH_LOW = 128

_ONE = np.uint64(1)
_S8 = np.uint64(8)
_HOME_END = np.uint64(6)


def _hash_keys() -> npt.NDArray[np.uint64]:
    # Additive keys: row 0 for a checker on a place, row 1 for an opponent's blot hit there.
    return np.random.default_rng(26).integers(1, 2**63, (2, PACKED_BAR + 1), dtype=np.uint64)


_KEYS = _hash_keys()


@inline_kernel
def sources_of(mask, open_points, die):
    """Places in `mask` from which `die` can be played when `open_points` are not blocked."""
    shift = np.uint64(die)
    if mask & BAR_BIT:
        return (open_points << shift) & BAR_BIT
    sources = mask & (open_points << shift)
    if (mask >> _HOME_END) == 0 and mask != 0:
        exact = mask & (_ONE << (shift - _ONE))
        if exact:
            sources |= exact
        elif (mask >> shift) == 0:
            sources |= _ONE << (np.uint64(63) - leading_zeros(mask))
    return sources


@inline_kernel
def move(board, own, opponent, source, die):
    """Move one checker on the bytes of `board`, whose halves start at `own` and `opponent`.

    Returns whether it hits.
    """
    board[own + source] -= 1
    target = source - die
    if target < 0:
        return False
    board[own + target] += 1
    facing = opponent + POINTS - 1 - target
    if board[facing] == 1:
        board[facing] = 0
        board[opponent + PACKED_BAR] += 1
        return True
    return False


@inline_kernel
def moved_mask(mask, left, source, die):
    """`mask` after a move from `source`, where `left` checkers remain."""
    if left == 0:
        mask &= ~(_ONE << np.uint64(source))
    if source >= die:
        mask |= _ONE << np.uint64(source - die)
    return mask


@inline_kernel
def path_step(path, source, low, hit):
    """`path` with one more move at its end."""
    step = np.uint64(source + 1)
    if low:
        step |= np.uint64(PATH_LOW)
    if hit:
        step |= np.uint64(PATH_HIT)
    return (path << _S8) | step


@inline_kernel
def hash_step(source, die, hit):
    """What a move adds to the hash of a play; equal sums mean equal boards."""
    change = -_KEYS[0, source]
    if source >= die:
        change += _KEYS[0, source - die]
        if hit:
            change += _KEYS[1, source - die]
    return change


@inline_kernel
def score_step(board, own, opponent, source, die, steps):
    """What a move not yet made on `board` adds to a table's score; arguments as for `_move`."""
    change = -steps[0, source, board[own + source] - 1]
    target = source - die
    if target >= 0:
        change += steps[0, target, board[own + target]]
        if board[opponent + POINTS - 1 - target] == 1:
            change += steps[1, PACKED_BAR, board[opponent + PACKED_BAR]]
            change -= steps[1, POINTS - 1 - target, 0]
    return change
