"""Measure your own parameters with functions that kernels call by address.

Kernels receive the address of a function's machine code, so that they need not be compiled again for every
new function.

An array int64 (2 + n, 2) lists the calls: the numbers of side and of shared parameters in the base; the
numbers of your own; then the kind and the function address of each of your own n parameters.  It is empty
for a built-in set.
"""

import ctypes
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc
from numba.core import types
from numba.core.errors import NumbaError

from motif.board.packed import BOARD_SIZE, Board, unpack
from motif.compiler.jit import WHOLE, bytes_of, checked_kernel, inline_kernel, intrinsic, lean_kernel
from motif.runtime.arrays import IntArray

SIDE, SHARED, DIFFERENCE = range(3)
"""Kinds of parameters: one value for each side, one value for both sides, and own minus opponent's."""
BOARD_WORDS = 4
"""Words of 8 bytes per board in the memory of `measure_own`."""
MAX_VALUE = 1e30
"""Limit of absolute values, so that their products fit into float32."""

Measurement = Callable[[Board], float]
"""Function of a board int8 (26,) that returns a number."""
OwnFunctions = IntArray
"""Array (2 + n, 2), or (0, 2) for a built-in set."""

_GENERATOR = "use of yield in a closure"
"""Part of numba's message about a generator expression."""
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
"""Numba colours its messages if colorama is installed."""
_SIGNATURE = types.float64(types.CPointer(types.int8))


class BoardFunction:
    """A compiled function of a board; its address is valid while the object exists."""

    def __init__(self, function: Measurement) -> None:
        """Compile `function`.

        Raises `ValueError` with a one-line message if it cannot be compiled.
        """
        inner = checked_kernel(function)

        def call(pointer: Any) -> Any:
            return inner(carray(pointer, (BOARD_SIZE,)))

        try:
            with warnings.catch_warnings():
                # Python 3.13 deprecates what numba does before it refuses a generator expression.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._compiled = cfunc(_SIGNATURE)(call)
        except NumbaError as error:
            raise ValueError(_in_one_line(str(error))) from None
        self.address: int = self._compiled.address or 0

    def changes(self, board: Board) -> bool:
        """Return whether the function writes to `board` (26,), which other functions read after it."""
        given = np.array(board, np.int8)
        self._compiled.ctypes(given.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)))
        return bool((given != board).any())


def _in_one_line(message: str) -> str:
    """Return numba's error message without its colours, advice and compilation stage."""
    lines = [line.strip() for line in _COLOUR.sub("", message).splitlines()]
    reasons = [line for line in lines if line and not line.startswith(("Failed in", "During:", "- "))]
    reason = reasons[0] if reasons else "cannot be compiled"
    if _GENERATOR in reason:
        return "generator expressions are not supported; write a list, as in sum([...]), or a loop"
    return reason


@intrinsic
def call_board_function(typing_context: Any, address: Any, board: Any) -> Any:
    """Return the float64 value of the `BoardFunction` at `address` for a contiguous int8 `board`."""
    signature = types.float64(address, board)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[1])(context, builder, arguments[1]).data
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.DoubleType(), [byte])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(function, [builder.bitcast(data, byte)])

    return signature, codegen


def no_functions() -> OwnFunctions:
    """Return the empty array for a set without parameters of your own."""
    return np.zeros((0, 2), np.int64)


@inline_kernel
def _value(address, board):
    """Return the function's value and 0, or 0 and 1 if the value is not finite or is too large."""
    value = call_board_function(address, board)
    if abs(value) < MAX_VALUE:
        return value, 0
    return 0.0, 1


@lean_kernel(WHOLE)
def measure_own(own, packed, out, memory):
    """Add your own unscaled values to the base's values in `out`; return how many are not finite.

    The base's values for the opponent and for both sides move up, so that each block of `out` ends with
    your own values.  `memory` int64 (2 * BOARD_WORDS,) is working memory for boards.
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
