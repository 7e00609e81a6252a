"""How parameters of one's own are measured: by functions that kernels know by their addresses alone.

An array int64 (2 + n, 2) tells a kernel what to call: the base's numbers of side and of shared
parameters; those of one's own; then for each of these n its kind and its function's address.  Empty, it
stands for a set that is motif's own.
"""

import numpy as np
import numpy.typing as npt

from motif.board.packed import BOARD_SIZE, unpack
from motif.parameters.board_functions import call_board_function
from motif.runtime.jit import WHOLE, bytes_of, inline_kernel, lean_kernel

SIDE, SHARED, DIFFERENCE = range(3)
"""Kinds of parameters: one value for each side, one for both, and own minus opponent's."""
BOARD_WORDS = 4
"""Words of 8 bytes that a board takes in the memory that `measure_own` is lent."""
LARGEST = 1e30
"""Values must be smaller than this, or float32 could not hold their products."""

OwnFunctions = npt.NDArray[np.int64]
"""(2 + n, 2), or (0, 2)."""


def no_functions() -> OwnFunctions:
    """Stands for a set without parameters of one's own."""
    return np.zeros((0, 2), np.int64)


@inline_kernel
def _value(address, board):
    """The function's value, and whether it is none that can be reckoned with; then it counts as 0."""
    value = call_board_function(address, board)
    if abs(value) < LARGEST:
        return value, 0
    return 0.0, 1


@lean_kernel(WHOLE)
def measure_own(own, packed, out, memory):
    """Add one's own values, unscaled, to those of the base in `out`; return how many were not finite.

    The base's opponent and shared values move up, so that each block of `out` ends with one's own.
    `memory` int64 (2 * BOARD_WORDS,) is lent for the boards.
    """
    base_sides, base_shared = own[0, 0], own[0, 1]
    sides = base_sides + own[1, 0]
    for k in range(base_shared - 1, -1, -1):
        out[2 * sides + k] = out[2 * base_sides + k]
    for k in range(base_sides - 1, -1, -1):
        out[sides + k] = out[base_sides + k]
    board = bytes_of(memory[:BOARD_WORDS])[:BOARD_SIZE]
    turned = bytes_of(memory[BOARD_WORDS : 2 * BOARD_WORDS])[:BOARD_SIZE]
    unpack(packed, board)
    for place in range(BOARD_SIZE):
        turned[place] = -board[BOARD_SIZE - 1 - place]
    side, shared, strange = base_sides, 2 * sides + base_shared, 0
    for row in range(2, own.shape[0]):
        kind, address = own[row, 0], own[row, 1]
        value, odd = _value(address, board)
        strange += odd
        if kind == SHARED:
            out[shared] = value
            shared += 1
            continue
        other, odd = _value(address, turned)
        strange += odd
        if kind == SIDE:
            out[side] = value
            out[sides + side] = other
            side += 1
        else:
            out[shared] = value - other
            shared += 1
    return strange
