"""Functions of a board that kernels call by their address.

A kernel holds what it calls since it was compiled.  A function that is handed to it as a number, the
address of its machine code in this process, needs no kernel to be compiled anew.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import carray, cfunc
from numba.core import types
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from motif.runtime.jit import checked_kernel

_SIGNATURE = types.float64(types.CPointer(types.int8))


class BoardFunction:
    """A compiled function of a board; its address holds for as long as the object lives."""

    def __init__(self, function: Callable[[Any], Any], size: int) -> None:
        """Compile `function`, which gets a board int8 (size,) and returns a number.

        Raises `ValueError`, in one line, for a function that cannot be compiled.
        """
        inner = checked_kernel(function)

        def call(pointer: Any) -> Any:
            return inner(carray(pointer, (size,)))

        try:
            self._compiled = cfunc(_SIGNATURE)(call)
        except NumbaError as error:
            raise ValueError(_in_one_line(str(error))) from None
        self.address: int = self._compiled.address or 0


def _in_one_line(message: str) -> str:
    """What numba complains of, without its advice and without where in its pipeline it happened."""
    lines = [line.strip() for line in message.splitlines()]
    reasons = [line for line in lines if line and not line.startswith(("Failed in", "During:", "- "))]
    return reasons[0] if reasons else "cannot be compiled"


@intrinsic
def call_board_function(typing_context: Any, address: Any, board: Any) -> Any:
    """The float64 that the `BoardFunction` at `address` gives for `board` int8, contiguous."""
    signature = types.float64(address, board)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[1])(context, builder, arguments[1]).data
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.DoubleType(), [byte])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(function, [builder.bitcast(data, byte)])

    return signature, codegen
