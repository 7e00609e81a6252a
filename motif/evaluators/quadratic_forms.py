"""The quadratic forms of a position class: the part of a raw sum that parameters and pairs contribute.

The raw sum of a head h is b_h + sum_j l_hj z_j + sum_{j <= i} w_hij z_i z_j over the parameters z.  The
kernels compute it as b_h + sum_j s_hj z_j with the column sums s_hj = l_hj + sum_{i >= j} w_hij z_i, for
several boards and heads together.
"""

from typing import NamedTuple

import numpy as np

from motif.board.packed import CHECKERS
from motif.compiler.jit import inline_kernel, trailing_zeros
from motif.compiler.simd import (
    GROUP,
    TOGETHER,
    WIDTH,
    add_weighted_rows,
    grouped_dot,
    nonzero_bits,
)
from motif.evaluators.probabilities import HEADS
from motif.parameters.position_class import CLASS_NAMES
from motif.parameters.sets import MAX_PARAMETERS
from motif.runtime.arrays import Float32Array, FloatArray, IntArray

APART, FIRST, AGAIN = range(3)
"""What the boards of a batch have in common: nothing; the checkers of the player on roll; these checkers,
also with the boards of the last batch.
"""
ABSENT = -1
"""First group of a head that a class does not have."""
MAX_ROW = GROUP * -(-MAX_PARAMETERS // GROUP)
"""Maximum length of a row of features, which is padded with zeros to a multiple of `GROUP`."""
_MAX_COLUMNS = len(HEADS) * MAX_ROW + 2 * WIDTH


class FormTables(NamedTuple):
    """The forms of some heads in every class, for kernels, in groups of `GROUP` columns.

    Group `first` + k `stride` of a head holds its parameters from k `GROUP` on.
    """

    bias: FloatArray = np.zeros((len(CLASS_NAMES), 0))
    """(classes, heads)"""
    first: IntArray = np.zeros((len(CLASS_NAMES), 0), np.int64)
    """(classes, heads): the head's first group, or ABSENT."""
    stride: IntArray = np.zeros((len(CLASS_NAMES), 0), np.int64)
    """(classes, heads)"""
    linear: Float32Array = np.zeros((len(CLASS_NAMES), 1, 0), np.float32)
    """(classes, 1, columns): linear weights; the columns are a multiple of `WIDTH`."""
    rows: Float32Array = np.zeros((len(CLASS_NAMES), 0, 0, GROUP), np.float32)
    """(classes, groups, n, GROUP): weights of the products of the n parameters with each column's."""
    begins: IntArray = np.zeros((len(CLASS_NAMES), 0), np.int64)
    """(classes, groups): the first group of rows that is not 0 in a group of columns or in a later one."""


class BoardBatch(NamedTuple):
    """Up to `TOGETHER` boards of one class that are evaluated together."""

    boards: IntArray
    """(TOGETHER,): the caller's numbers of the boards."""
    features: Float32Array
    """(TOGETHER, MAX_ROW)"""
    nonzero: IntArray
    """(2, MAX_ROW): the parameters that are not 0 on every board, in ascending order, from `find_nonzero`:
    those of the player on roll alone, then the others.
    """
    nonzero_counts: IntArray
    """(2,): their numbers."""
    nonzero_before: IntArray
    """(2, MAX_ROW / GROUP + 1): their numbers before each group of parameters."""
    column_sums: Float32Array
    """(TOGETHER, columns): the sums of `FormTables`."""
    common_column_sums: Float32Array
    """(1, columns): the part of these that depends on the player on roll alone, for `FIRST` and `AGAIN`."""
    point_rows: IntArray
    """(TOGETHER, 2, CHECKERS): rows of the hidden layer's point tables that each board reads, by side."""
    point_row_counts: IntArray
    """(TOGETHER, 2)"""
    unit_sums: Float32Array
    """(TOGETHER, MAX_UNITS): the sums of hidden units, before the squash."""
    common_unit_sums: Float32Array
    """(1, MAX_UNITS): the part of these that depends on the player on roll alone, for `FIRST` and `AGAIN`."""
    unit_outputs: FloatArray
    """(5,): what the hidden units of one board add."""
    raws: FloatArray
    """(TOGETHER, heads): raw sums, in the order of `HEADS`."""


def new_board_batch(max_units: int) -> BoardBatch:
    """Return an empty batch for hidden layers of at most `max_units` units."""
    return BoardBatch(
        np.zeros(TOGETHER, np.int64),
        np.zeros((TOGETHER, MAX_ROW), np.float32),
        np.zeros((2, MAX_ROW), np.int64),
        np.zeros(2, np.int64),
        np.zeros((2, MAX_ROW // GROUP + 1), np.int64),
        np.zeros((TOGETHER, _MAX_COLUMNS), np.float32),
        np.zeros((1, _MAX_COLUMNS), np.float32),
        np.zeros((TOGETHER, 2, CHECKERS), np.int64),
        np.zeros((TOGETHER, 2), np.int64),
        np.zeros((TOGETHER, max_units), np.float32),
        np.zeros((1, max_units), np.float32),
        np.zeros(len(HEADS) - 1),
        np.zeros((TOGETHER, len(HEADS))),
    )


@inline_kernel
def find_nonzero(batch, boards, size, steady):
    """List in the batch which of `size` parameters are not 0 on all of the first `boards` boards.

    The others, many of them in races, add nothing to any sum. `steady` are ``MeasuredSet.steady``.
    """
    groups = (size + GROUP - 1) // GROUP
    batch.nonzero_counts[:] = 0
    for group in range(groups):
        first = group * GROUP
        bits = nonzero_bits(batch.features[0], first)
        for board in range(1, boards):
            bits |= nonzero_bits(batch.features[board], first)
        for part in range(2):
            count = batch.nonzero_counts[part]
            batch.nonzero_before[part, group] = count
            left = bits & (~steady[group] if part else steady[group])
            while left:
                batch.nonzero[part, count] = first + trailing_zeros(left)
                left &= left - 1
                count += 1
            batch.nonzero_counts[part] = count
    for part in range(2):
        batch.nonzero_before[part, groups] = batch.nonzero_counts[part]


@inline_kernel
def add_part(batch, part, rows, begins, boards, starts, sums):
    """Set the first `boards` rows of `sums` to `starts` + the weighted rows of a part's nonzero parameters.

    `starts` has a row for each board, or one row for all.
    """
    picked, before = batch.nonzero[part, : batch.nonzero_counts[part]], batch.nonzero_before[part]
    add_weighted_rows(batch.features, rows, picked, before, begins, starts, sums, boards)


@inline_kernel
def add_forms(forms, position_class, batch, boards, common, first_head):
    """Add the forms of a class to ``batch.raws`` of the first `boards` boards, from `first_head` on.

    `common` is what the boards have in common. Each sum has the same bits in any batch.
    """
    linear, rows = forms.linear[position_class], forms.rows[position_class]
    begins = forms.begins[position_class]
    own_sums, own_boards = batch.common_column_sums, 1
    if common == APART:
        own_sums, own_boards = batch.column_sums, boards
    if common != AGAIN:
        add_part(batch, 0, rows, begins, own_boards, linear, own_sums)
    add_part(batch, 1, rows, begins, boards, own_sums, batch.column_sums)
    blocks = (rows.shape[1] + GROUP - 1) // GROUP
    for board in range(boards):
        features, sums = batch.features[board], batch.column_sums[board]
        for head in range(forms.first.shape[1]):
            first = forms.first[position_class, head]
            if first != ABSENT:
                form = grouped_dot(features, sums, first, forms.stride[position_class, head], blocks)
                batch.raws[board, first_head + head] += forms.bias[position_class, head] + np.float64(form)
