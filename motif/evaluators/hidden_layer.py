"""The hidden layer of a position class: units that add to the raw sums of its five probabilities.

A unit is large where several conditions combine, such as an own prime in front of a straggler while the spare
pips run out; no product of two parameters can express that. The raw sum of each probability h is

    x_h = (bias, linear weights and pairs of h) + sum over units k of o_hk squash(b_k + sum_i w_ki z_i)

with the parameters and the checkers on each point as z. `squash` is a rational function close to tanh that
needs one division and is bit-identical on every machine.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, OPPONENT_HALF, PACKED_BAR
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel, trailing_zeros
from motif.compiler.simd import (
    OUTPUT_COUNT,
    SQUASH_LIMIT,
    TOGETHER,
    WIDTH,
    add_rows,
    add_weighted_rows,
    add_weighted_to_first,
    sums_of_squashed,
)

MAX_UNITS = 512
"""Maximum number of hidden units of a class."""
_ONE = np.uint64(1)
_LIMIT = np.float32(SQUASH_LIMIT)


class HiddenTables(NamedTuple):
    """The hidden layers of all classes, for kernels; U is a multiple of `WIDTH`, padded with zeros."""

    counts: npt.NDArray[np.int64]
    """(classes,): units of each class, rounded up to `WIDTH`; (0,) if no class has any."""
    bias: npt.NDArray[np.float32]
    """(classes, U): biases."""
    inputs: npt.NDArray[np.float32]
    """(classes, n, U): weights of the n parameters before scaling."""
    points: npt.NDArray[np.float32]
    """(classes, 2, 25, 16, U): by side (the player on roll first), point and number of checkers."""
    outputs: npt.NDArray[np.float32]
    """(classes, 5, U): output weights by probability."""


def no_hidden_layers() -> HiddenTables:
    """Return the tables of a model without hidden layers."""
    points = np.zeros((0, 2, PACKED_BAR + 1, CHECKERS + 1, WIDTH), np.float32)
    inputs, outputs = np.zeros((0, 0, WIDTH), np.float32), np.zeros((0, OUTPUT_COUNT, WIDTH), np.float32)
    return HiddenTables(np.zeros(0, np.int64), np.zeros((0, WIDTH), np.float32), inputs, points, outputs)


_Floats = npt.NDArray[np.floating]


def squash_units(sums: _Floats) -> _Floats:
    """Return x (27 + x^2) / (27 + 9 x^2) for x from -3 to 3, and -1 or 1 beyond: within .024 of tanh."""
    x = np.clip(sums, -_LIMIT, _LIMIT)
    return np.asarray(x * (27 + x * x) / (27 + 9 * x * x))


def slopes_of_units(sums: _Floats) -> _Floats:
    """Return the slope of `squash_units`: (9 - x^2)^2 / (9 (3 + x^2)^2)."""
    square = np.minimum(sums * sums, _LIMIT * _LIMIT)
    return np.asarray(((9 - square) / (3 + square)) ** 2 / 9)


class HiddenBatch(NamedTuple):
    """Up to `TOGETHER` boards of one class whose hidden layers are computed together."""

    features: npt.NDArray[np.float32]
    """(TOGETHER, size): features of the boards."""
    rows: npt.NDArray[np.int64]
    """(TOGETHER, 2 CHECKERS): rows of the table of points that each board reads."""
    row_counts: npt.NDArray[np.int64]
    """(TOGETHER,): number of those rows for each board."""
    boards: npt.NDArray[np.int64]
    """(TOGETHER,): the caller's numbers of the boards."""
    sums: npt.NDArray[np.float32]
    """(TOGETHER, MAX_UNITS): the units' sums, before and after `squash_units`."""
    raws: npt.NDArray[np.float64]
    """(TOGETHER + 1, 5): the raw sums of the probabilities; the last row is for boards outside the batch."""
    added: npt.NDArray[np.float64]
    """(5,): contribution of the units of one board."""


def new_hidden_batch(size: int) -> HiddenBatch:
    """Return an empty batch for rows of `size` features."""
    return HiddenBatch(
        np.zeros((TOGETHER, size), np.float32),
        np.zeros((TOGETHER, 2 * CHECKERS), np.int64),
        np.zeros(TOGETHER, np.int64),
        np.zeros(TOGETHER, np.int64),
        np.zeros((TOGETHER, MAX_UNITS), np.float32),
        np.zeros((TOGETHER + 1, OUTPUT_COUNT)),
        np.zeros(OUTPUT_COUNT),
    )


@inline_kernel
def load_board(hidden, batch, k, position_class, packed, occupied, features):
    """Store a board's inputs to the hidden units of its class as board `k` of the batch.

    The inputs are the `features` and the checkers on the points of the masks `occupied` of both sides.
    """
    for i in range(hidden.inputs.shape[1]):
        batch.features[k, i] = features[i]
    count = 0
    for side in range(2):
        points, half = occupied[side], OPPONENT_HALF * side
        first = (2 * position_class + side) * (PACKED_BAR + 1)
        while points:
            point = np.int64(trailing_zeros(points))
            points &= points - _ONE
            batch.rows[k, count] = (first + point) * (CHECKERS + 1) + packed[half + point]
            count += 1
    batch.row_counts[k] = count


@lean_kernel(NOTHING)
def add_hidden_layer(hidden, position_class, batch, boards):
    """Add the hidden layer of a class to ``batch.raws`` of the first `boards` boards.

    The result of a board is bit-identical whatever other boards are in the batch.
    """
    count = hidden.counts[position_class]
    bias, inputs = hidden.bias[position_class], hidden.inputs[position_class]
    for board in range(boards):
        for k in range(bias.shape[0]):
            batch.sums[board, k] = bias[k]
    if boards == 1:
        add_weighted_to_first(batch.features, inputs, batch.sums)
    else:
        add_weighted_rows(batch.features, inputs, batch.sums)
    for board in range(boards):
        sums = batch.sums[board]
        add_rows(batch.rows[board, : batch.row_counts[board]], hidden.points, sums)
        sums_of_squashed(hidden.outputs[position_class], sums, count, batch.added)
        for head in range(OUTPUT_COUNT):
            batch.raws[board, head] += batch.added[head]
