"""The 21 rolls, and the compiled generator of legal plays with its working memory.

The generator works on packed boards (see `motif.board.packed`) and writes every distinct resulting board
from the side of the next player on roll.  Rules: both dice must be played if either order allows it; if
only one of them can be played, the higher die must be played if possible; checkers on the bar enter first;
a checker may be borne off with a larger die if none is behind it; doubles are played up to four times.

In kernels that move one checker by one die, `own` and `opponent` are the byte offsets of the mover's half
and the opponent's half of a board.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import (
    ALL_POINTS,
    BAR_BIT,
    OPPONENT_HALF,
    PACKED_BAR,
    PACKED_SIZE,
    PACKED_WORDS,
    POINTS,
    TABLE_SHAPE,
    copy_words,
    made,
    mirrored,
    occupied,
)
from motif.compiler.jit import WHOLE, inline_kernel, leading_zeros, lean_kernel, trailing_zeros
from motif.runtime.arrays import IntArray

ROLLS = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)], np.int64)
"""The 21 rolls (21, 2), the higher die first."""
IS_DOUBLE = ROLLS[:, 0] == ROLLS[:, 1]
"""Whether each of `ROLLS` is a double."""
ROLL_COUNTS = np.where(IS_DOUBLE, 1, 2).astype(np.int64)
"""Number of the 36 rolls of two dice that give each of `ROLLS`."""
ROLL_SHARES = ROLL_COUNTS / ROLL_COUNTS.sum()
"""Probability of each of `ROLLS`."""
OPENING_SHARES = np.where(IS_DOUBLE, 0.0, 1 / (~IS_DOUBLE).sum())
"""Probability of each of `ROLLS` as the opening roll, which is never a double."""
for _table in (ROLLS, ROLL_COUNTS, ROLL_SHARES, OPENING_SHARES):
    _table.setflags(write=False)


def roll_numbers(rolls: IntArray) -> IntArray:
    """Return the index in `ROLLS` of each of `rolls` (n, 2), the higher die first: (n,)."""
    high, low = rolls.T
    return high * (high - 1) // 2 + low - 1


# A move in a path is one byte: the index of the source + 1, a flag for a hit, and a flag for the lower of
# two different dice.
PATH_SOURCE = 31
PATH_HIT = 64
PATH_LOW = 128
_ONE = np.uint64(1)
_S8 = np.uint64(8)
_HOME_END = np.uint64(6)


def _hash_keys() -> npt.NDArray[np.uint64]:
    # Keys to add: row 0 for a checker on a point or the bar, row 1 for an opposing blot hit there.
    return np.random.default_rng(26).integers(1, 2**63, (2, PACKED_BAR + 1), dtype=np.uint64)


_KEYS = _hash_keys()


@inline_kernel
def sources_of(mask, open_points, die):
    """Return the points and bar in `mask` from which `die` can be played; `open_points` are not blocked."""
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
    """Move one checker on the bytes of `board`.

    Returns whether the move hits a blot.
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
    """Return `mask` after a move from `source` that leaves `left` checkers there."""
    if left == 0:
        mask &= ~(_ONE << np.uint64(source))
    if source >= die:
        mask |= _ONE << np.uint64(source - die)
    return mask


@inline_kernel
def path_step(path, source, low, hit):
    """Return `path` with one more move at its end."""
    step = np.uint64(source + 1)
    if low:
        step |= np.uint64(PATH_LOW)
    if hit:
        step |= np.uint64(PATH_HIT)
    return (path << _S8) | step


@inline_kernel
def hash_step(source, die, hit):
    """Return the term that a move adds to the hash of a play; equal sums mean equal boards."""
    change = -_KEYS[0, source]
    if source >= die:
        change += _KEYS[0, source - die]
        if hit:
            change += _KEYS[1, source - die]
    return change


@inline_kernel
def score_step(board, own, opponent, source, die, steps):
    """Return the change in a point table's score by a move that `board` does not yet contain."""
    change = -steps[0, source, board[own + source] - 1]
    target = source - die
    if target >= 0:
        change += steps[0, target, board[own + target]]
        if board[opponent + POINTS - 1 - target] == 1:
            change += steps[1, PACKED_BAR, board[opponent + PACKED_BAR]]
            change -= steps[1, POINTS - 1 - target, 0]
    return change


_HASH_SLOT = np.uint64(58)
_ANY_SOURCE = np.int64(PACKED_BAR)
_NO_STEPS = np.zeros(TABLE_SHAPE, np.int64)


@inline_kernel
def _copy_switched(source, target):
    half = PACKED_WORDS // 2
    for k in range(half):
        target[k] = source[k + half]
        target[k + half] = source[k]


@inline_kernel
def _is_known(play_hash, hashes, count):
    """Return whether `play_hash` is among the first `count` of `hashes`; the loop vectorises."""
    known = False
    for k in range(count):
        known |= hashes[k] == play_hash
    return known


@inline_kernel
def _add_two_dice(words, mask, open_points, first, second, buffer, count, taken, steps, scored):
    """Add the plays of die `first` and then die `second` that differ from the `count` plays found so far."""
    node, node_bytes = buffer.node_words[0, 0], buffer.node_boards[0, 0]
    sources = sources_of(mask, open_points, first)
    while sources:
        source = np.int64(trailing_zeros(sources))
        sources &= sources - _ONE
        copy_words(words, node)
        score = score_step(node_bytes, 0, OPPONENT_HALF, source, first, steps) if scored else 0
        hit = move(node_bytes, 0, OPPONENT_HALF, source, first)
        node_mask = moved_mask(mask, node_bytes[source], source, first)
        node_hash = hash_step(source, first, hit)
        node_path = path_step(np.uint64(0), source, first < second, hit)
        next_sources = sources_of(node_mask, open_points, second)
        while next_sources:
            source = np.int64(trailing_zeros(next_sources))
            next_sources &= next_sources - _ONE
            hit = source >= second and node_bytes[OPPONENT_HALF + POINTS - 1 - source + second] == 1
            play_hash = node_hash + hash_step(source, second, hit)
            slot = _ONE << (play_hash >> _HASH_SLOT)
            # Most plays are new, and the slots of most new plays are free.
            if taken & slot and _is_known(play_hash, buffer.hashes, count):
                continue
            taken |= slot
            if scored:
                change = score_step(node_bytes, 0, OPPONENT_HALF, source, second, steps)
                buffer.scores[count] = score + change
            _copy_switched(node, buffer.words[count])
            move(buffer.boards[count], OPPONENT_HALF, 0, source, second)
            buffer.hashes[count] = play_hash
            buffer.paths[count] = path_step(node_path, source, second < first, hit)
            count += 1
    return count, taken


@inline_kernel
def _add_one_die(words, board, mask, open_points, die, low, buffer, steps, scored):
    """Write the plays of a single `die` and return their number."""
    count = 0
    sources = sources_of(mask, open_points, die)
    while sources:
        source = np.int64(trailing_zeros(sources))
        sources &= sources - _ONE
        if scored:
            buffer.scores[count] = score_step(board, 0, OPPONENT_HALF, source, die, steps)
        _copy_switched(words, buffer.words[count])
        hit = move(buffer.boards[count], OPPONENT_HALF, 0, source, die)
        buffer.paths[count] = path_step(np.uint64(0), source, low, hit)
        count += 1
    return count


@inline_kernel
def _add_doubles(words, mask, open_points, die, buffer, steps, scored):
    """Write the plays of a double and return their number.

    Every playable set of moves can be played with the rearmost checker first, and different sets lead to
    different boards.  Only this order is followed, so that there are no duplicates.
    """
    copy_words(words, buffer.node_words[0, 0])
    buffer.node_masks[0, 0] = mask
    buffer.node_paths[0, 0] = 0
    buffer.node_scores[0, 0] = 0
    side, nodes = 0, 1
    for _ in range(4):
        children = 0
        for k in range(nodes):
            node_mask, node_path = buffer.node_masks[side, k], buffer.node_paths[side, k]
            last = np.int64(node_path & np.uint64(PATH_SOURCE)) - 1
            if last < 0:
                last = _ANY_SOURCE
            sources = sources_of(node_mask, open_points, die) & ((_ONE << np.uint64(last + 1)) - _ONE)
            while sources:
                source = np.int64(trailing_zeros(sources))
                sources &= sources - _ONE
                copy_words(buffer.node_words[side, k], buffer.node_words[1 - side, children])
                child = buffer.node_boards[1 - side, children]
                if scored:
                    change = score_step(child, 0, OPPONENT_HALF, source, die, steps)
                    buffer.node_scores[1 - side, children] = buffer.node_scores[side, k] + change
                hit = move(child, 0, OPPONENT_HALF, source, die)
                buffer.node_masks[1 - side, children] = moved_mask(node_mask, child[source], source, die)
                buffer.node_paths[1 - side, children] = path_step(node_path, source, False, hit)
                children += 1
        if children == 0:
            break
        side, nodes = 1 - side, children
    for k in range(nodes):
        _copy_switched(buffer.node_words[side, k], buffer.words[k])
        buffer.paths[k] = buffer.node_paths[side, k]
        if scored:
            buffer.scores[k] = buffer.node_scores[side, k]
    return nodes


@inline_kernel
def _generate(words, board, high, low, buffer, steps, scored):
    mask = occupied(words, 0)
    open_points = ALL_POINTS & ~mirrored(made(words, PACKED_WORDS // 2))
    if high == low:
        return _add_doubles(words, mask, open_points, high, buffer, steps, scored)
    count, taken = 0, np.uint64(0)
    count, taken = _add_two_dice(words, mask, open_points, high, low, buffer, count, taken, steps, scored)
    count, taken = _add_two_dice(words, mask, open_points, low, high, buffer, count, taken, steps, scored)
    if count == 0:
        count = _add_one_die(words, board, mask, open_points, high, False, buffer, steps, scored)
    if count == 0:
        count = _add_one_die(words, board, mask, open_points, low, True, buffer, steps, scored)
    if count == 0:
        _copy_switched(words, buffer.words[0])
        buffer.paths[0] = 0
        if scored:
            buffer.scores[0] = 0
        count = 1
    return count


@lean_kernel(WHOLE)
def generate_with_steps(words, board, high, low, buffer, steps, scored):
    """Do the work of `generate` or, if `scored`, of `generate_scored`."""
    return _generate(words, board, high, low, buffer, steps, scored)


@inline_kernel
def generate(words, high, low, buffer):
    """Write all legal plays of the roll `high`, `low` (high first) on the packed board `words` int64[8].

    The resulting boards are from the side of the next player on roll.  Returns their number, which is at
    least one: a dance leaves the board as it is.
    """
    return generate_with_steps(words, buffer.boards[0], high, low, buffer, buffer.no_steps, False)


@inline_kernel
def generate_within(words, high, low, buffer):
    """Do the work of `generate`, inlined into the calling kernel."""
    return _generate(words, buffer.boards[0], high, low, buffer, _NO_STEPS, False)


@inline_kernel
def generate_scored(words, board, high, low, buffer, steps):
    """Do the work of `generate`, and write the score of each play in a point table to ``buffer.scores``.

    `board` int8[64] contains the same bytes as `words`. `steps` int64 (2, 25, 16) is the change in score
    when a checker is added to 0 to 15 checkers on a point or the bar, for the mover (0) and the other
    player (1), each in their own numbering.
    """
    return _generate(words, board, high, low, buffer, steps, True)


MAX_PLAYS = 3072
"""Upper bound on the number of plays: four moves can be distributed over 15 checkers in 3,060 ways."""


class PlayBuffer(NamedTuple):
    """Reusable working memory of the generator; `boards` and `words` are the same bytes."""

    words: IntArray
    """Resulting boards (MAX_PLAYS, 8)."""
    boards: npt.NDArray[np.int8]
    """Resulting boards as bytes (MAX_PLAYS, 64), a view of `words`."""
    paths: npt.NDArray[np.uint64]
    """Path of each play: a byte per move, the first move in the highest byte used."""
    scores: IntArray
    """Change in the mover's point-table score by each play."""
    hashes: npt.NDArray[np.uint64]
    node_words: IntArray
    node_boards: npt.NDArray[np.int8]
    node_masks: npt.NDArray[np.uint64]
    node_paths: npt.NDArray[np.uint64]
    node_scores: IntArray
    no_steps: IntArray
    """Changes in score of an all-zero table (2, 25, 16)."""


def new_play_buffer() -> PlayBuffer:
    """Return a buffer for one thread."""
    words = np.zeros((MAX_PLAYS, PACKED_WORDS), np.int64)
    node_words = np.zeros((2, MAX_PLAYS, PACKED_WORDS), np.int64)
    return PlayBuffer(
        words,
        words.view(np.int8).reshape(MAX_PLAYS, PACKED_SIZE),
        np.zeros(MAX_PLAYS, np.uint64),
        np.zeros(MAX_PLAYS, np.int64),
        np.zeros(MAX_PLAYS, np.uint64),
        node_words,
        node_words.view(np.int8).reshape(2, MAX_PLAYS, PACKED_SIZE),
        np.zeros((2, MAX_PLAYS), np.uint64),
        np.zeros((2, MAX_PLAYS), np.uint64),
        np.zeros((2, MAX_PLAYS), np.int64),
        np.zeros(TABLE_SHAPE, np.int64),
    )
