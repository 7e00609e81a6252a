"""The compiled generator of legal plays.

It works on packed boards (see `position`) and writes every distinct resulting board, seen by the
next player on roll.  Rules: both dice must be played if that is possible in either order; if only
one of them can be, the higher one must be if it can; checkers on the bar enter first; a checker
may be borne off with a larger die when none stands behind it; doubles are played up to four times.
"""

import numpy as np

from motif.board.masks import ALL_POINTS, made, mirrored, occupied
from motif.board.position import CHECKERS, OPPONENT_HALF, PACKED_BAR, PACKED_WORDS, POINTS
from motif.board.single_moves import (
    PATH_SOURCE,
    hash_step,
    move,
    moved_mask,
    path_step,
    score_step,
    sources_of,
)
from motif.runtime.jit import inline_kernel, lean_kernel, trailing_zeros

_ONE = np.uint64(1)
_HASH_SLOT = np.uint64(58)
_ANY_SOURCE = np.int64(PACKED_BAR)

STEPS_SHAPE = (2, PACKED_BAR + 1, CHECKERS + 1)
_NO_STEPS = np.zeros(STEPS_SHAPE, np.int64)


@inline_kernel
def _copy_words(source, target):
    for k in range(PACKED_WORDS):
        target[k] = source[k]


@inline_kernel
def _copy_switched(source, target):
    half = PACKED_WORDS // 2
    for k in range(half):
        target[k] = source[k + half]
        target[k + half] = source[k]


@inline_kernel
def _is_known(play_hash, hashes, count):
    """Whether `play_hash` is among the first `count` of `hashes`; no early end, so that it vectorises."""
    known = False
    for k in range(count):
        known |= hashes[k] == play_hash
    return known


@inline_kernel
def _add_two_dice(words, mask, open_points, first, second, buffer, count, taken, steps, scored):
    """Add the plays of `first` and then `second` that are not yet among the `count` found."""
    node, node_bytes = buffer.node_words[0, 0], buffer.node_boards[0, 0]
    sources = sources_of(mask, open_points, first)
    while sources:
        source = np.int64(trailing_zeros(sources))
        sources &= sources - _ONE
        _copy_words(words, node)
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
            # Most plays are new, and most of these hash to a slot that no other has taken.
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
    """Write the plays of `die` alone and return their number."""
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

    Moves of one die can be played in the order of their sources, the rearmost first, whenever they
    can be played at all, and two different sets of moves never give the same board: so only that
    order is followed, and no duplicate arises.
    """
    _copy_words(words, buffer.node_words[0, 0])
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
                _copy_words(buffer.node_words[side, k], buffer.node_words[1 - side, children])
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


@lean_kernel
def generate(words, high, low, buffer):
    """Write all legal plays of the roll `high`, `low` (high first) on the packed board `words` int64[8].

    The resulting boards are seen by the next player on roll.  Returns their number, at least one: a
    dance leaves the board as it is.
    """
    return _generate(words, buffer.boards[0], high, low, buffer, _NO_STEPS, False)


@lean_kernel
def generate_scored(words, board, high, low, buffer, steps):
    """`generate`, and each play's score by a point table to ``buffer.scores``.

    `board` int8[64] is the same bytes as `words`.
    `steps` int64 (2, 25, 16): what one more checker on a place that holds 0 to 15 adds to the score,
    for the mover's places (0) and the other player's (1), each in its own numbering.
    """
    return _generate(words, board, high, low, buffer, steps, True)
