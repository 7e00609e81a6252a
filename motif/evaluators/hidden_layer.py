"""The hidden layer of a position class: units that add to the raw sums of its five probabilities.

A unit is large where several conditions combine, such as an own prime in front of a straggler while the spare
pips run out; no product of two parameters can express that. The raw sum of each probability h is

    x_h = (bias, linear weights and pairs of h) + sum over units k of o_hk squash(b_k + sum_i w_ki z_i)

with the parameters and the checkers on each point as z. `squash` is a rational function close to tanh that
needs one division and is bit-identical on every machine.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, OPPONENT_HALF, PACKED_BAR, TABLE_SHAPE
from motif.compiler.jit import inline_kernel, trailing_zeros
from motif.compiler.simd import GROUP, OUTPUT_COUNT, SQUASH_LIMIT, WIDTH, add_rows, aligned, sums_of_squashed
from motif.evaluators.quadratic_forms import AGAIN, APART, add_part
from motif.runtime.arrays import Float32Array, IntArray, frozen

MAX_UNITS = 512
"""Maximum number of hidden units of a class."""
_ONE = np.uint64(1)
_LIMIT = np.float32(SQUASH_LIMIT)
_EQUAL = 1e-9
"""Difference of sums below which the slope replaces the secant."""


class HiddenTables(NamedTuple):
    """The hidden layers of all classes, for kernels; U is a multiple of `WIDTH`, padded with zeros.

    The arrays are aligned, and read only (see `frozen`): joblib maps large ones from files.
    """

    counts: IntArray
    """(classes,): units of each class, rounded up to `WIDTH`; (0,) if no class has any."""
    bias: Float32Array
    """(classes, U): biases."""
    inputs: Float32Array
    """(classes, U / GROUP, n, GROUP): weights of the n parameters before scaling."""
    begins: IntArray
    """(U / GROUP,): zeros: no group of rows of the inputs is 0."""
    points: Float32Array
    """(classes, 2, 25, 16, U): by side (the player on roll first), point and number of checkers."""
    outputs: Float32Array
    """(classes, 5, U): output weights by probability."""

    def __reduce__(self) -> tuple[Any, ...]:
        return read_only, tuple(self)


def read_only(*arrays: Any) -> HiddenTables:
    """Return tables of the `arrays`, or of aligned copies, which become read only."""
    return HiddenTables(*(frozen(aligned(array)) for array in arrays))


def no_hidden_layers() -> HiddenTables:
    """Return the tables of a model without hidden layers."""
    points = np.zeros((0, *TABLE_SHAPE, WIDTH), np.float32)
    inputs = np.zeros((0, WIDTH // GROUP, 0, GROUP), np.float32)
    outputs = np.zeros((0, OUTPUT_COUNT, WIDTH), np.float32)
    bias, begins = np.zeros((0, WIDTH), np.float32), np.zeros(WIDTH // GROUP, np.int64)
    return read_only(np.zeros(0, np.int64), bias, inputs, begins, points, outputs)


_Floats = npt.NDArray[np.floating]


def squash_units(sums: _Floats) -> _Floats:
    """Return x (27 + x^2) / (27 + 9 x^2) for x from -3 to 3, and -1 or 1 beyond: within .024 of tanh."""
    x = np.clip(sums, -_LIMIT, _LIMIT)
    return np.asarray(x * (27 + x * x) / (27 + 9 * x * x))


def slopes_of_units(sums: _Floats) -> _Floats:
    """Return the slope of `squash_units`: (9 - x^2)^2 / (9 (3 + x^2)^2)."""
    square = np.minimum(sums * sums, _LIMIT * _LIMIT)
    return np.asarray(((9 - square) / (3 + square)) ** 2 / 9)


def secants_of_units(first: _Floats, second: _Floats) -> _Floats:
    """Return the slopes of the secants of `squash_units` between sums; its slope where they are equal."""
    steps, rises = first - second, squash_units(first) - squash_units(second)
    equal = np.abs(steps) < _EQUAL
    return np.where(equal, slopes_of_units((first + second) / 2), rises / np.where(equal, 1, steps))


@inline_kernel
def load_point_rows(batch, k, position_class, packed, occupied):
    """Store the rows of the point tables of both sides' `occupied` points as board `k` of the batch."""
    for side in range(2):
        count, points, half = 0, occupied[side], OPPONENT_HALF * side
        first = (2 * position_class + side) * (PACKED_BAR + 1)
        while points:
            point = np.int64(trailing_zeros(points))
            points &= points - _ONE
            batch.point_rows[k, side, count] = (first + point) * (CHECKERS + 1) + packed[half + point]
            count += 1
        batch.point_row_counts[k, side] = count


@inline_kernel
def add_hidden_layer(hidden, position_class, batch, boards, common):
    """Add the hidden layer of a class to ``batch.raws`` of the first `boards` boards.

    `common` is what the boards have in common (see `motif.evaluators.quadratic_forms`). The result of a board
    is bit-identical whatever other boards are in the batch.
    """
    count = hidden.counts[position_class]
    bias, inputs, begins = hidden.bias[position_class], hidden.inputs[position_class], hidden.begins
    own_sums, own_boards = batch.common_unit_sums, 1
    if common == APART:
        own_sums, own_boards = batch.unit_sums, boards
    if common != AGAIN:
        for board in range(own_boards):
            rows = batch.point_rows[board, 0, : batch.point_row_counts[board, 0]]
            add_rows(rows, hidden.points, bias, own_sums[board])
        add_part(batch, 0, inputs, begins, own_boards, own_sums, own_sums)
    for board in range(boards):
        rows = batch.point_rows[board, 1, : batch.point_row_counts[board, 1]]
        add_rows(rows, hidden.points, own_sums[min(board, own_boards - 1)], batch.unit_sums[board])
    add_part(batch, 1, inputs, begins, boards, batch.unit_sums, batch.unit_sums)
    for board in range(boards):
        sums_of_squashed(hidden.outputs[position_class], batch.unit_sums[board], count, batch.unit_outputs)
        for head in range(OUTPUT_COUNT):
            batch.raws[board, head] += batch.unit_outputs[head]
