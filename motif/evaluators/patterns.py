"""Patterns: learned sums of parameters and of the checkers on each place, squashed, that add to a raw sum.

A pattern is large where several things come together, as an own prime that faces a straggler while the spare
pips run out; no product of two parameters can say that.  Those of a class add to its equity head, and to
those of its game plans, each of which may have amounts of its own:

    x = (the head's own terms) + sum over patterns k of amount_k squash(bias_k + sum_i w_ki f_i + places)

The squash is a rational function that is near tanh, costs one division, and gives the same bits on every
machine.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import CHECKERS, OPPONENT_HALF, PACKED_BAR
from motif.runtime.jit import NOTHING, inline_kernel, lean_kernel, trailing_zeros
from motif.runtime.simd import (
    OUTPUT_COUNT,
    PATTERN_LIMIT,
    TOGETHER,
    WIDTH,
    add_rows,
    add_weighted_rows,
    add_weighted_to_first,
    sum_of_squashed,
    sums_of_squashed,
)

MAX_PATTERNS = 512
"""Patterns that a class may have."""
_ONE = np.uint64(1)
_LIMIT = np.float32(PATTERN_LIMIT)


class PatternTables(NamedTuple):
    """The patterns of every class, for kernels; P is a multiple of `WIDTH`, and what is not there is 0."""

    counts: npt.NDArray[np.int64]
    """(classes,): patterns of each class, rounded up to `WIDTH`; (0,) where no class has any."""
    amounts: npt.NDArray[np.float32]
    """(classes, P), or (classes + plans, P) where game plans have amounts of their own: by slot."""
    bias: npt.NDArray[np.float32]
    """(classes, P)"""
    inputs: npt.NDArray[np.float32]
    """(classes, n, P): weights of the n parameters, as measured."""
    points: npt.NDArray[np.float32]
    """(classes, 2, 25, 16, P): by side, the player on roll's first, place and checkers there."""
    outputs: npt.NDArray[np.float32]
    """(classes, 5, P): amounts by probability; (0, 5, P) where the patterns add to equity heads."""


def no_patterns() -> PatternTables:
    """Those of a model without any."""
    none = np.zeros((0, WIDTH), np.float32)
    places = np.zeros((0, 2, PACKED_BAR + 1, CHECKERS + 1, WIDTH), np.float32)
    inputs, outputs = np.zeros((0, 0, WIDTH), np.float32), np.zeros((0, OUTPUT_COUNT, WIDTH), np.float32)
    return PatternTables(np.zeros(0, np.int64), none, none, inputs, places, outputs)


_Floats = npt.NDArray[np.floating[Any]]


def squash_patterns(sums: _Floats) -> _Floats:
    """x (27 + x^2) / (27 + 9 x^2) for x from -3 to 3, and -1 or 1 beyond: within .024 of tanh, smooth."""
    x = np.clip(sums, -_LIMIT, _LIMIT)
    return np.asarray(x * (27 + x * x) / (27 + 9 * x * x))


def slopes_of_patterns(sums: _Floats) -> _Floats:
    """The slope of `squash_patterns`: (9 - x^2)^2 / (9 (3 + x^2)^2)."""
    square = np.minimum(sums * sums, _LIMIT * _LIMIT)
    return np.asarray(((9 - square) / (3 + square)) ** 2 / 9)


class PatternRoom(NamedTuple):
    """Room for up to `TOGETHER` boards of one class whose patterns are summed together."""

    features: npt.NDArray[np.float32]
    """(TOGETHER, size): what was measured of each."""
    picked: npt.NDArray[np.int64]
    """(TOGETHER, 2 CHECKERS): the rows of the table of places that each picks."""
    met: npt.NDArray[np.int64]
    """(TOGETHER,): how many."""
    slots: npt.NDArray[np.int64]
    """(TOGETHER,): the slot of each, which says whose amounts count."""
    boards: npt.NDArray[np.int64]
    """(TOGETHER,): which boards they are, for whoever fills the room."""
    sums: npt.NDArray[np.float32]
    """(TOGETHER, MAX_PATTERNS): the sums, before they are squashed and after."""
    raws: npt.NDArray[np.float64]
    """(TOGETHER + 1, 5): the raw sums of the probabilities, and those of a board that does not wait."""
    added: npt.NDArray[np.float64]
    """(5,): what the patterns of one board add to them."""


def new_pattern_room(size: int) -> PatternRoom:
    """Room for rows of `size` features."""
    return PatternRoom(
        np.zeros((TOGETHER, size), np.float32),
        np.zeros((TOGETHER, 2 * CHECKERS), np.int64),
        np.zeros(TOGETHER, np.int64),
        np.zeros(TOGETHER, np.int64),
        np.zeros(TOGETHER, np.int64),
        np.zeros((TOGETHER, MAX_PATTERNS), np.float32),
        np.zeros((TOGETHER + 1, OUTPUT_COUNT)),
        np.zeros(OUTPUT_COUNT),
    )


@inline_kernel
def take_in(patterns, room, place, position_class, slot, packed, places, features):
    """Keep at a `place` of the room what the `patterns` of its class see of a board: the `features` measured
    and, of `places`, the masks of occupied places of both sides, the checkers; and whose amounts count."""
    room.slots[place] = slot
    for k in range(patterns.inputs.shape[1]):
        room.features[place, k] = features[k]
    met = 0
    for side in range(2):
        occupied, half = places[side], OPPONENT_HALF * side
        first = (2 * position_class + side) * (PACKED_BAR + 1)
        while occupied:
            point = np.int64(trailing_zeros(occupied))
            occupied &= occupied - _ONE
            room.picked[place, met] = (first + point) * (CHECKERS + 1) + packed[half + point]
            met += 1
    room.met[place] = met


@lean_kernel(NOTHING)
def sum_patterns(patterns, position_class, room, boards):
    """Sum the patterns of a class over the first `boards` in the room.

    What they add to the equity heads is left at the head of their ``room.sums``; where the model has outputs,
    what they add to the probabilities is added to their ``room.raws``.

    The same board gives the same bits whatever else is in the room.
    """
    count = patterns.counts[position_class]
    bias, inputs = patterns.bias[position_class], patterns.inputs[position_class]
    for board in range(boards):
        for k in range(bias.shape[0]):
            room.sums[board, k] = bias[k]
    if boards == 1:
        add_weighted_to_first(room.features, inputs, room.sums)
    else:
        add_weighted_rows(room.features, inputs, room.sums)
    for board in range(boards):
        sums = room.sums[board]
        add_rows(room.picked[board, : room.met[board]], patterns.points, sums)
        if patterns.outputs.shape[0] > 0:
            sums_of_squashed(patterns.outputs[position_class], sums, count, room.added)
            for head in range(OUTPUT_COUNT):
                room.raws[board, head] += room.added[head]
        else:
            slot = room.slots[board]
            row = slot if slot < patterns.amounts.shape[0] else position_class
            sums[0] = sum_of_squashed(patterns.amounts[row], sums, count)
