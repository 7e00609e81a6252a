"""The hidden units of a move filter, which correct the scores of its point table.

The score of a play is that of the point table plus the sum over units k of o_k squash(b_k + t_k), where t_k
is the score by the unit's own point table, and `squash` is that of `motif.evaluators.hidden_layer`.
"""

from typing import NamedTuple

import numpy as np

from motif.board.packed import OPPONENT_HALF, PACKED_BAR, PACKED_WORDS, TABLE_SHAPE, has_same_half, occupied
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel
from motif.compiler.simd import GROUP, add_at_points, squash_at_points
from motif.runtime.arrays import Float32Array, IntArray

MAX_FILTER_UNITS = GROUP
"""Maximum number of hidden units of a move filter and class: those that one vector holds."""


class FilterTables(NamedTuple):
    """The hidden units of the move filters of all classes, for kernels, padded with zeros."""

    bias: Float32Array
    """(classes, GROUP): biases; (0, GROUP) without hidden units."""
    points: Float32Array
    """(classes, 2, 25, 16, GROUP): by side (the player on roll after the play first), point and number of
    checkers.
    """
    outputs: Float32Array
    """(classes, GROUP): output weights, in units of the point table."""
    margins: IntArray
    """(classes,): the largest difference from the best play, in units of the point table."""


def no_filter_units() -> FilterTables:
    """Return the tables of a model without hidden units in its move filter."""
    points = np.zeros((0, *TABLE_SHAPE, GROUP), np.float32)
    none = np.zeros((0, GROUP), np.float32)
    return FilterTables(none, points, none, np.zeros(0, np.int64))


@inline_kernel
def has_filter_units(tables):
    """Return whether a move filter has hidden units."""
    return tables.bias.shape[0] > 0


@lean_kernel(NOTHING)
def add_filter_units(tables, position_class, plays, count, batch):
    """Add what hidden units contribute to ``plays.scores`` of the first `count` plays.

    `position_class` is that of the position before the plays.  Plays that hit nothing share the sums of the
    opponent's checkers.
    """
    bias, outputs = tables.bias[position_class], tables.outputs[position_class]
    places = PACKED_BAR + 1
    first, start = 2 * position_class * places, batch.unit_sums[0]
    for k in range(count):
        words, packed = plays.words[k], plays.boards[k]
        if k == 0 or not has_same_half(words, plays.words[k - 1]):
            add_at_points(packed, 0, occupied(words, 0), tables.points, first, bias, start)
        moved = occupied(words, PACKED_WORDS // 2)
        score = squash_at_points(packed, OPPONENT_HALF, moved, tables.points, first + places, start, outputs)
        plays.scores[k] += np.int64(score)
